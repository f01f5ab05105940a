// Accesses without alignment, of different bytes.
// expect: nothing
#include <pthread.h>
#include <stdint.h>

void __sanitizer_unaligned_store32(void *, uint32_t);
uint16_t __sanitizer_unaligned_load16(const void *);

static char bytes[16];

static void *second(void *unused) {
    (void)unused;
    __sanitizer_unaligned_store32(bytes + 5, 7);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    uint16_t seen = __sanitizer_unaligned_load16(bytes + 3);
    (void)seen;
    pthread_join(thread, 0);
    return 0;
}
