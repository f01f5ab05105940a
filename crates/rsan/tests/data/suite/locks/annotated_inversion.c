// Locks of the program's own, taken in both orders.
// expect: lock-order-inversion
#include <stdatomic.h>

void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

static atomic_int a, b;

__attribute__((always_inline)) static inline void lock(atomic_int *m) {
    __tsan_mutex_pre_lock(m, 0);
    while (atomic_exchange(m, 1)) {
    }
    __tsan_mutex_post_lock(m, 0, 1);
}

static void unlock(atomic_int *m) {
    __tsan_mutex_pre_unlock(m, 0);
    atomic_store(m, 0);
    __tsan_mutex_post_unlock(m, 0);
}

int main(void) {
    lock(&a);
    lock(&b);
    unlock(&b);
    unlock(&a);
    lock(&b);
    lock(&a);
    unlock(&a);
    unlock(&b);
    return 0;
}
