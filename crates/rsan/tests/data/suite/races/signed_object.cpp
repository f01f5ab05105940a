// The value of an atomic object of C++ is printed with the sign of its type, too.
// expect: weak-behaviour
// says: may read -2 from `flags[1]`
#include "../../pinned.h"
#include <atomic>

std::atomic<short> flags[2] = {{0}, {-2}};

static void *second(void *unused) {
    wait_for_main();
    flags[0].store(1, std::memory_order_release);
    flags[1].load(std::memory_order_acquire); // <- weak-behaviour
    return unused;
}

int main() {
    pthread_t other;
    pthread_create(&other, 0, second, 0);
    flags[1].store(1, std::memory_order_release);
    flags[0].load(std::memory_order_acquire);
    let_go();
    pthread_join(other, 0);
    return 0;
}
