// A race before main is found.
// expect: data-race
#include <pthread.h>

static int counter;

static void *add(void *argument) {
    counter++; // <- data-race
    return argument;
}

__attribute__((constructor)) static void early(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

int main(void) { return 0; }
