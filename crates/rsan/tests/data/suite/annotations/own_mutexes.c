// Two locks by the annotations. The atomic operations inside of them order nothing.
// expect: data-race
#include <pthread.h>
#include <stdatomic.h>

static int mutexes[4];

void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

static atomic_int taken;
static int counter;

static void add(void *mutex) {
    __tsan_mutex_pre_lock(mutex, 0);
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
    }
    __tsan_mutex_post_lock(mutex, 0, 0);
    counter++; // <- data-race
    __tsan_mutex_pre_unlock(mutex, 0);
    atomic_store_explicit(&taken, 0, memory_order_release);
    __tsan_mutex_post_unlock(mutex, 0);
}

static void *second(void *unused) {
    (void)unused;
    add(&mutexes[0]);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    add(&mutexes[2]);
    pthread_join(thread, 0);
    return 0;
}
