// Threads that spin for each other, in every way: on a load, on an exchange, on a compare-and-swap, with a counter of
// rounds, with a yield. Nobody starves, whatever the schedule.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int turn, lock, ticket;
static int sum;

static void enter(void) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire)) {
    }
}

static void leave(void) {
    atomic_store_explicit(&lock, 0, memory_order_release);
}

static void *first(void *_) {
    for (int i = 0; i < 3; i++) {
        while (atomic_load(&turn) != 2 * i) {
        }
        enter();
        sum++;
        leave();
        atomic_store(&turn, 2 * i + 1);
    }
    return _;
}

static void *second(void *_) {
    for (int i = 0; i < 3; i++) {
        for (long rounds = 0; atomic_load(&turn) != 2 * i + 1; rounds++)
            if (rounds % 16 == 0) sched_yield();
        enter();
        sum++;
        leave();
        atomic_store(&turn, 2 * i + 2);
    }
    return _;
}

static void *third(void *_) {
    for (int i = 0; i < 3; i++) {
        int expected = 0;
        while (!atomic_compare_exchange_weak(&ticket, &expected, 1)) expected = 0;
        enter();
        sum++;
        leave();
        atomic_store(&ticket, 0);
    }
    return _;
}

int main(void) {
    pthread_t threads[4];
    void *(*bodies[4])(void *) = {first, second, third, third};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, bodies[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return sum == 12 ? 0 : 1;
}
