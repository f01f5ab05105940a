/* Private blocks of several threads, which the allocator hands out again. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *argument) {
    char *blocks[50];
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j < 50; j++) {
            blocks[j] = malloc(64);
            memset(blocks[j], i, 64);
            blocks[j][3] = 1;
        }
        for (int j = 0; j < 50; j++) free(blocks[j]);
    }
    return argument;
}

int main(void) {
    for (int round = 0; round < 4; round++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
    return 0;
}
