// A program that has a malloc of its own reaches rsan's by the name that ThreadSanitizer gives it.
// expect: nothing
#include <stddef.h>

void *__interceptor_malloc(size_t bytes);
void __interceptor_free(void *block);

static int calls;

void *malloc(size_t bytes) {
    calls++;
    return __interceptor_malloc(bytes);
}

void free(void *block) { __interceptor_free(block); }

int main(void) {
    void *volatile block = malloc(10);
    free(block);
    return calls > 0 ? 0 : 1;
}
