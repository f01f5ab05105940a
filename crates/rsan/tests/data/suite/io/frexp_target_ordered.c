// An exponent is written by frexp, and read by another thread, after the thread has ended.
// expect: nothing
// flags: -fno-builtin -lm
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>

static int exponent;
static volatile double number = 12;
static volatile int copy;

static void *work(void *unused) {
    number = frexp(number, &exponent);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    copy = exponent;
    return 0;
}
