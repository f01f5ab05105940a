// The same, where a setting says that it does not matter.
// expect: nothing
// options: destroy_locked=0
#include "mutex.h"

static int lock;

int main(void) {
    __tsan_mutex_create(&lock, 0);
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_destroy(&lock, 0);
    return 0;
}
