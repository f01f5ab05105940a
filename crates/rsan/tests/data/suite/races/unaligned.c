// A word across two granules of the shadow races in its second half.
// expect: data-race
#include <pthread.h>
#include <stdint.h>
static struct __attribute__((packed)) {
    char first[6];
    uint32_t word;
    char last[6];
} packed __attribute__((aligned(8)));

static void *write_word(void *unused) {
    packed.word = 1; // <- data-race
    return unused;
}

static void *read_end(void *unused) {
    return ((volatile char *)&packed)[9] ? unused : NULL; // <- data-race
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, write_word, NULL);
    pthread_create(&second, NULL, read_end, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
