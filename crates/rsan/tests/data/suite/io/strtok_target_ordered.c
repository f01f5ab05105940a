// A text is cut by strtok_r, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

static char text[] = "a b";
static volatile int copy;

static void *work(void *unused) {
    char *rest; strtok_r(text, " ", &rest);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = text[1];
    return 0;
}
