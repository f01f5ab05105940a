// An annotated mutex is destroyed while it is locked.
// expect: lock-misuse
#include "mutex.h"

static int lock;

int main(void) {
    __tsan_mutex_create(&lock, 0);
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_destroy(&lock, 0); // <- lock-misuse
    return 0;
}
