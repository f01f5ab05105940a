// A wide text is copied, and read by another thread.
// expect: data-race
// says: wcscpy
#define _GNU_SOURCE
#include <pthread.h>
#include <wchar.h>

static wchar_t text[8];
static volatile int copy;

static void *work(void *unused) {
    wcscpy(text, L"wide"); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = text[4]; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
