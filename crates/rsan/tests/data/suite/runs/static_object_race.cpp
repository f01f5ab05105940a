// A static object is destroyed while a thread that nobody joined has used it without order.
// expect: data-race
#include <atomic>
#include <cstdlib>
#include <thread>

struct Counter {
    int number = 0;
    ~Counter() { if (number < 0) std::abort(); } // <- data-race
};

static Counter counter;
static std::atomic<bool> done;

int main() {
    std::thread([] {
        counter.number = 1; // <- data-race
        done.store(true, std::memory_order_relaxed);
    }).detach();
    while (!done.load(std::memory_order_relaxed)) std::this_thread::yield();
    return 0;
}
