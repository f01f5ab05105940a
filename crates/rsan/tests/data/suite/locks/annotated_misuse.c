// A lock of the program's own is given back by a thread that does not have it, and destroyed while it is held.
// expect: lock-misuse
// expect: lock-misuse
#include <stdatomic.h>

void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

static atomic_int m;

static void lock(void) {
    __tsan_mutex_pre_lock(&m, 0);
    while (atomic_exchange(&m, 1)) {
    }
    __tsan_mutex_post_lock(&m, 0, 1);
}

int main(void) {
    __tsan_mutex_create(&m, 0);
    lock();
    __tsan_mutex_pre_unlock(&m, 0);
    atomic_store(&m, 0);
    __tsan_mutex_post_unlock(&m, 0);
    __tsan_mutex_pre_unlock(&m, 0); // <- lock-misuse
    __tsan_mutex_post_unlock(&m, 0);
    lock();
    __tsan_mutex_destroy(&m, 0); // <- lock-misuse
    return 0;
}
