// A write under a shared lock.
// expect: data-race
// flags: -std=c++17
#include <shared_mutex>
#include <thread>
static std::shared_mutex lock;
static int value;

static void add() {
    std::shared_lock<std::shared_mutex> shared(lock);
    value++; // <- data-race
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
}
