// A finding survives a crash after it.
// expect: data-race
// status: 1
#include <pthread.h>
#include <stdlib.h>
static int counter;

static void *add(void *unused) {
    counter++; // <- data-race
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    abort();
}
