// volatile is not atomic.
// expect: data-race
#include <pthread.h>
static volatile int counter;

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
