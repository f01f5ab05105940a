// A race on a heap block, which the report names.
// expect: data-race
// says: a heap block of 40 bytes
#include <pthread.h>
#include <stdlib.h>
static void *add(void *counters) {
    ((int *)counters)[3]++; // <- data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int *counters = calloc(10, sizeof *counters);
    pthread_create(&first, NULL, add, counters);
    pthread_create(&second, NULL, add, counters);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    free(counters);
    return 0;
}
