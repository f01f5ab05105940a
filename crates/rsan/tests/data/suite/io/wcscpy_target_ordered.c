// A wide text is copied, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <wchar.h>

static wchar_t text[8];
static volatile int copy;

static void *work(void *unused) {
    wcscpy(text, L"wide");
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = text[4];
    return 0;
}
