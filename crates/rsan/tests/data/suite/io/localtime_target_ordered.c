// A date is computed, and read by another thread, after the thread has ended.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static struct tm date;
static volatile int year;

static void *work(void *unused) {
    time_t then = 86400; gmtime_r(&then, &date);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    year = date.tm_year;
    return 0;
}
