// Timed locks that are taken in time.
// expect: nothing
#include <chrono>
#include <mutex>
#include <thread>
static std::timed_mutex lock;
static std::recursive_mutex again;
static int value;

static void add() {
    for (int i = 0; i < 50; i++) {
        while (!lock.try_lock_for(std::chrono::seconds(60)))
            ;
        value++;
        lock.unlock();
        std::lock_guard<std::recursive_mutex> outer(again), inner(again);
    }
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
    return value - 100;
}
