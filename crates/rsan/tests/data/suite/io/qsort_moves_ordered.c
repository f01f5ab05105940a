// An array is sorted, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static int numbers[4] = {1, 2, 3, 4};
static volatile int copy;

static int compare(const void *one, const void *two) {
    (void)one;
    (void)two;
    return 0;
}

static void *work(void *unused) {
    qsort(numbers, 4, sizeof *numbers, compare);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = numbers[3];
    return 0;
}
