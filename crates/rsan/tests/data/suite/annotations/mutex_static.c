// An annotated mutex is not destroyed by one who says that of those only that are not static.
// expect: nothing
#include "mutex.h"

static int lock;

int main(void) {
    __tsan_mutex_create(&lock, 0);
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_destroy(&lock, __tsan_mutex_not_static);
    return 0;
}
