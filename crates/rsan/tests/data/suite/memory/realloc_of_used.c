// A block is made larger while another thread reads it.
// expect: data-race
#include <pthread.h>
#include <stdlib.h>

static char *block;

static void *reader(void *unused) {
    (void)unused;
    return (void *)(long)block[3]; // <- data-race
}

static void *grower(void *unused) {
    (void)unused;
    return realloc(block, 1000); // <- data-race
}

int main(void) {
    pthread_t threads[2];
    void *larger;
    block = calloc(1, 16);
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, grower, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], &larger);
    free(larger);
    return 0;
}
