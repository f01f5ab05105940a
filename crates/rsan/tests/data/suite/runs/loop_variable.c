// Every thread gets the address of a variable of its own.
// expect: nothing
#include <pthread.h>

static void *use(void *number) {
    return *(int *)number < 0 ? number : 0;
}

int main(void) {
    pthread_t threads[2];
    int numbers[2];
    for (int i = 0; i < 2; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], 0, use, &numbers[i]);
    }
    for (int j = 0; j < 2; j++) pthread_join(threads[j], 0);
    return 0;
}
