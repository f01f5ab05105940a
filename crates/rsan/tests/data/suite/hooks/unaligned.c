// Accesses without alignment, by functions of the sanitizer's interface.
// expect: data-race
#include <pthread.h>
#include <stdint.h>

void __sanitizer_unaligned_store32(void *, uint32_t);
uint64_t __sanitizer_unaligned_load64(const void *);

static char bytes[16];

static void *second(void *unused) {
    (void)unused;
    __sanitizer_unaligned_store32(bytes + 5, 7); // <- data-race
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    uint64_t seen = __sanitizer_unaligned_load64(bytes + 1); // <- data-race
    (void)seen;
    pthread_join(thread, 0);
    return 0;
}
