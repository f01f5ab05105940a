// A forked child has what its parent knew, and its own threads.
// expect: nothing
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int counter;

static void *add(void *unused) {
    counter++;
    return unused;
}

static int run(void) {
    pthread_t thread;
    counter++;
    pthread_create(&thread, NULL, add, NULL);
    pthread_join(thread, NULL);
    return counter;
}

int main(void) {
    int status;
    run();
    pid_t child = fork();
    if (child == 0)
        _exit(run() == 4 ? 0 : 1);
    waitpid(child, &status, 0);
    return status != 0;
}
