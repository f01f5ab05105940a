// A wide write and a read of one of its bytes.
// expect: data-race
#include <pthread.h>
#include <stdint.h>
union {
    uint64_t word;
    uint8_t bytes[8];
} both;

static void *write_word(void *unused) {
    both.word = 1; // <- data-race
    return unused;
}

static void *read_byte(void *unused) {
    return both.bytes[5] ? unused : NULL; // <- data-race
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, write_word, NULL);
    pthread_create(&second, NULL, read_byte, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
