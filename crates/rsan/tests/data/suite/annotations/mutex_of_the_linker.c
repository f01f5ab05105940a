// An annotated mutex that lives as long as the program is not destroyed.
// expect: nothing
#include "mutex.h"

static int lock;

int main(void) {
    __tsan_mutex_create(&lock, __tsan_mutex_linker_init);
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_destroy(&lock, 0);
    return 0;
}
