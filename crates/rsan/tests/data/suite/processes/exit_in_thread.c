// A thread that is not the first one ends the process.
// expect: data-race
#include <pthread.h>
#include <stdlib.h>
static int counter;

static void *add(void *unused) {
    counter++; // <- data-race
    return unused;
}

static void *end(void *unused) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    exit(0);
    return unused;
}

int main(void) {
    pthread_t ender;
    pthread_create(&ender, NULL, end, NULL);
    pthread_join(ender, NULL);
    return 1;
}
