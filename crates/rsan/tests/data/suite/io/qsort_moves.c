// An array is sorted, and read by another thread.
// expect: data-race
// says: #0 qsort
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
    qsort(numbers, 4, sizeof *numbers, compare); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = numbers[3]; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
