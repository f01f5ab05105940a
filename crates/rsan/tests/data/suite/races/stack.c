// A race on a variable of the main thread's stack.
// expect: data-race
// says: on the stack of main thread
#include <pthread.h>
static void *add(void *counter) {
    ++*(int *)counter; // <- data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int counter = 0;
    pthread_create(&first, NULL, add, &counter);
    pthread_create(&second, NULL, add, &counter);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return counter - 2 > 0;
}
