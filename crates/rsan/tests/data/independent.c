// Two writers, and two readers that may disagree about their order.
#include "pinned.h"
#include <stdatomic.h>

static atomic_int x, y;

static void *write_x(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_release);
    step_done();
    return unused;
}

static void *read_x_then_y(void *unused) {
    wait_for(1);
    atomic_load_explicit(&x, memory_order_acquire);
    atomic_load_explicit(&y, memory_order_acquire);
    step_done();
    wait_for(4);
    return unused;
}

static void *write_y(void *unused) {
    wait_for(2);
    atomic_store_explicit(&y, 1, memory_order_release);
    step_done();
    wait_for(4);
    return unused;
}

static void *read_y_then_x(void *unused) {
    wait_for(3);
    atomic_load_explicit(&y, memory_order_acquire);
    atomic_load_explicit(&x, memory_order_acquire);
    step_done();
    return unused;
}

int main(void) {
    void *(*bodies[])(void *) = {write_x, read_x_then_y, write_y, read_y_then_x};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        if (pthread_create(&threads[i], 0, bodies[i], 0)) return 2;
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
