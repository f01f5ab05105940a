// An exponent is written by frexp, and read by another thread.
// expect: data-race
// flags: -fno-builtin -lm
// says: #0 frexp
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>

static int exponent;
static volatile double number = 12;
static volatile int copy;

static void *work(void *unused) {
    number = frexp(number, &exponent); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = exponent; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
