// A thread is cancelled while it prints, and leaves through the function.
// expect: nothing
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static int cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned = 1;
}

static void *work(void *unused) {
    pthread_cleanup_push(clean, 0);
    for (;;) dprintf(ends[1], "%s %g\n", "text that fills the pipe", 1.5);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    if (pipe(ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED && cleaned ? 0 : 1;
}
