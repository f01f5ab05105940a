// Stacks are right after an exception left several functions.
// expect: data-race
#include <stdexcept>
#include <thread>
static int counter;

__attribute__((noinline)) static void fail() { throw std::runtime_error("x"); }
__attribute__((noinline)) static void call() { fail(); }

static void work() {
    try {
        call();
    } catch (const std::exception &) {
    }
    counter++; // <- data-race
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
}
