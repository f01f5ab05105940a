// Two threads add to a counter without a lock.
// expect: data-race
// says: `counter`
#include <pthread.h>

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
    return 0;
}
