// Each thread has a thread-local variable of its own.
// expect: nothing
#include <pthread.h>
static __thread int counter;

static void *add(void *unused) {
    counter++;
    return counter == 1 ? NULL : unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
