// The program is told of its allocations, and asks about them.
// expect: nothing
#include <stddef.h>
#include <stdlib.h>

int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t), void (*)(const volatile void *));
int __sanitizer_get_ownership(const volatile void *);
size_t __sanitizer_get_allocated_size(const volatile void *);
size_t __sanitizer_get_current_allocated_bytes(void);
size_t __sanitizer_get_heap_size(void);
size_t __sanitizer_get_estimated_allocated_size(size_t);

static volatile int told[4];

void __sanitizer_malloc_hook(const volatile void *block, size_t bytes) {
    told[0] += block && bytes == 1000;
}

void __sanitizer_free_hook(const volatile void *block) {
    told[1] += block != 0;
}

static void allocated(const volatile void *block, size_t bytes) {
    told[2] += block && bytes == 1000;
}

static void freed(const volatile void *block) {
    told[3] += block != 0;
}

int main(void) {
    if (!__sanitizer_install_malloc_and_free_hooks(allocated, freed)) {
        return 1;
    }
    char *volatile block = malloc(1000);
    if (__sanitizer_get_ownership(block) != 1 || __sanitizer_get_ownership(block + 1) != 0 ||
        __sanitizer_get_allocated_size(block) != 1000 || __sanitizer_get_current_allocated_bytes() < 1000 ||
        __sanitizer_get_heap_size() < 1000 || __sanitizer_get_estimated_allocated_size(9) != 9) {
        return 2;
    }
    free(block);
    if (__sanitizer_get_ownership(block) != 0) {
        return 3;
    }
    return told[0] == 1 && told[1] == 1 && told[2] == 1 && told[3] == 1 ? 0 : 4;
}
