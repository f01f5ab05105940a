// A lock of the program's own, whose order only the annotations say.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>

void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

static atomic_int taken;
static int counter;

static void add(void *mutex) {
    __tsan_mutex_pre_lock(mutex, 0);
    while (atomic_exchange_explicit(&taken, 1, memory_order_relaxed)) {
    }
    __tsan_mutex_post_lock(mutex, 0, 0);
    counter++;
    __tsan_mutex_pre_unlock(mutex, 0);
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
    __tsan_mutex_post_unlock(mutex, 0);
}

static void *second(void *unused) {
    (void)unused;
    add(&taken);
    return 0;
}

int main(void) {
    pthread_t thread;
    __tsan_mutex_create(&taken, 0);
    pthread_create(&thread, 0, second, 0);
    add(&taken);
    pthread_join(thread, 0);
    return 0;
}
