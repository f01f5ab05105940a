// A value that may be read is printed with the sign of its type.
// expect: weak-behaviour
// says: may read -1 from `x`
#include "../../pinned.h"
#include <stdatomic.h>

static atomic_int x = -1, y;

static void *second(void *unused) {
    wait_for_main();
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_load_explicit(&x, memory_order_acquire); // <- weak-behaviour
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, second, 0);
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_load_explicit(&y, memory_order_acquire);
    let_go();
    pthread_join(other, 0);
    return 0;
}
