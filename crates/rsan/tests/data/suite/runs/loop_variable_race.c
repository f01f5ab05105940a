// Every thread gets the address of the variable that the loop counts with.
// expect: data-race
#include <pthread.h>

static void *use(void *number) {
    return *(int *)number < 0 ? number : 0; // <- data-race
}

int main(void) {
    pthread_t threads[2];
    int i;
    for (i = 0; i < 2; i++) pthread_create(&threads[i], 0, use, &i);
    for (int j = 0; j < 2; j++) pthread_join(threads[j], 0);
    return 0;
}
