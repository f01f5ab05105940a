/* GLib's mutexes, conditions, queues and pools order; without them there is a race. */
#include <glib.h>
#include <string.h>

enum { ROUNDS = 200 };
static GMutex mutex;
static GCond condition;
static GAsyncQueue *queue;
static int counter, ready, done, unlocked;

static void task(gpointer data, gpointer user) {
    int *cell = data;
    (*cell)++;
    g_mutex_lock(&mutex);
    *(int *)user += *cell;
    g_mutex_unlock(&mutex);
}

static gpointer work(gpointer data) {
    for (int i = 0; i < ROUNDS; i++) {
        g_mutex_lock(&mutex);
        counter++;
        g_mutex_unlock(&mutex);
        int *cell = g_async_queue_pop(queue);
        *cell += 1;
        g_async_queue_push((GAsyncQueue *)data, cell);
    }
    g_mutex_lock(&mutex);
    while (!ready) g_cond_wait(&condition, &mutex);
    done = ready;
    g_mutex_unlock(&mutex);
    return 0;
}

static gpointer race(gpointer data) {
    unlocked++;
    return data;
}

int main(int count, char **arguments) {
    static int cells[ROUNDS], sum;
    GAsyncQueue *back = g_async_queue_new();
    queue = g_async_queue_new();
    GThread *thread = g_thread_new("work", work, back);
    for (int i = 0; i < ROUNDS; i++) {
        cells[i] = i;
        g_async_queue_push(queue, &cells[i]);
        g_mutex_lock(&mutex);
        counter++;
        g_mutex_unlock(&mutex);
        int *cell = g_async_queue_pop(back);
        *cell += 1;
    }
    g_mutex_lock(&mutex);
    ready = 1;
    g_cond_signal(&condition);
    g_mutex_unlock(&mutex);
    g_thread_join(thread);
    GThreadPool *pool = g_thread_pool_new(task, &sum, 2, FALSE, 0);
    for (int i = 0; i < ROUNDS; i++) {
        cells[i] = 0;
        g_thread_pool_push(pool, &cells[i], 0);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    if (count > 1 && strcmp(arguments[1], "race") == 0) {
        GThread *threads[2] = {g_thread_new("a", race, 0), g_thread_new("b", race, 0)};
        for (int i = 0; i < 2; i++) g_thread_join(threads[i]);
    }
    return sum == ROUNDS && counter == 2 * ROUNDS && done ? 0 : 1;
}
