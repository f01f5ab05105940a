// A thread is cancelled while it prints, and leaves through the function.
// expect: nothing
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static FILE *file;
static int cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned = 1;
}

static void *work(void *unused) {
    pthread_cleanup_push(clean, 0);
    for (;;) fprintf(file, "%s %g\n", "text that fills the pipe", 1.5);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    int ends[2];
    if (pipe(ends) != 0 || !(file = fdopen(ends[1], "w"))) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    return result == PTHREAD_CANCELED && cleaned ? 0 : 1;
}
