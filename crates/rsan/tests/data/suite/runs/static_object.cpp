// A static object is destroyed after the thread that used it has said so.
// expect: nothing
#include <atomic>
#include <cstdlib>
#include <thread>

struct Counter {
    int number = 0;
    ~Counter() { if (number < 0) std::abort(); }
};

static Counter counter;
static std::atomic<bool> done;

int main() {
    std::thread([] {
        counter.number = 1;
        done.store(true, std::memory_order_release);
    }).detach();
    while (!done.load(std::memory_order_acquire)) std::this_thread::yield();
    return 0;
}
