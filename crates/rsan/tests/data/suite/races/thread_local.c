// A thread-local variable of the main thread, written by another.
// expect: data-race
// says: in main thread's thread-local storage
#include <pthread.h>
static __thread int counter;

static void *add(void *its) {
    ++*(int *)its; // <- data-race
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, &counter);
    counter++; // <- data-race
    pthread_join(thread, NULL);
    return 0;
}
