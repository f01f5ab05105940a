// A program with an allocator of its own, which is there before the runtime starts.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Alignas(16) char arena[8 << 20];
static atomic_size_t used;

void *malloc(size_t bytes) {
    size_t at = atomic_fetch_add(&used, (bytes + 31) / 16 * 16);
    if (at + bytes + 16 > sizeof arena) return 0;
    memcpy(arena + at, &bytes, sizeof bytes);
    return arena + at + 16;
}

void free(void *block) { (void)block; }

void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }

void *realloc(void *block, size_t bytes) {
    void *fresh = malloc(bytes);
    size_t before = 0;
    if (block) memcpy(&before, (char *)block - 16, sizeof before);
    if (fresh && block) memcpy(fresh, block, before < bytes ? before : bytes);
    return fresh;
}

static void *work(void *argument) {
    for (int i = 1; i < 100; i++) {
        char *block = malloc(i);
        block[0] = 1;
        free(block);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
