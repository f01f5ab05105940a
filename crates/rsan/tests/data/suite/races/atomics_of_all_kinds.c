// Atomic operations of all kinds and sizes do not race with each other.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static _Atomic uint8_t one;
static _Atomic uint16_t two;
static _Atomic uint32_t four;
static _Atomic uint64_t eight;

static void *work(void *unused) {
    uint64_t expected = 0;
    atomic_fetch_add(&one, 1);
    atomic_fetch_or(&two, 2);
    atomic_fetch_and(&two, 3);
    atomic_fetch_xor(&four, 4);
    atomic_exchange(&four, 5);
    atomic_compare_exchange_strong(&eight, &expected, 6);
    atomic_compare_exchange_weak(&eight, &expected, 7);
    return atomic_load(&eight) == 99 ? unused : NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
