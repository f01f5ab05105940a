// A pool of threads that take small tasks from a list behind a mutex; a task can make others. Arguments: threads, depth
// of the tree of tasks.
#include "bench.h"

enum { LEAF_WORK = 32 };

struct task {
    struct task *next;
    int depth;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct task *list;
static long unfinished;
static unsigned long leaves;

static void submit(int depth) {
    struct task *task = malloc(sizeof *task);
    check(task != 0, "memory");
    task->depth = depth;
    pthread_mutex_lock(&mutex);
    task->next = list;
    list = task;
    unfinished++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static struct task *next_task(void) {
    pthread_mutex_lock(&mutex);
    while (!list && unfinished) {
        pthread_cond_wait(&changed, &mutex);
    }
    struct task *task = list;
    if (task) {
        list = task->next;
    }
    pthread_mutex_unlock(&mutex);
    return task;
}

static void body(int thread) {
    unsigned char scratch[LEAF_WORK] = {0};
    for (struct task *task; (task = next_task()); free(task)) {
        if (task->depth) {
            submit(task->depth - 1);
            submit(task->depth - 1);
        } else {
            memset(scratch, thread, sizeof scratch);
        }
        pthread_mutex_lock(&mutex);
        leaves += task->depth == 0;
        if (!--unfinished) {
            pthread_cond_broadcast(&changed);
        }
        pthread_mutex_unlock(&mutex);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    int depth = argument(argc, argv, 2, 0, 30);
    submit(depth);
    run_threads(threads, body);
    check(leaves == 1ul << depth, "leaves");
    return result(leaves);
}
