// std::shared_mutex: readers together, a writer alone.
// expect: nothing
// flags: -std=c++17
#include <mutex>
#include <shared_mutex>
#include <thread>
static std::shared_mutex lock;
static int value;

static void write() {
    for (int i = 0; i < 100; i++) {
        std::unique_lock<std::shared_mutex> own(lock);
        value++;
    }
}

static void read() {
    for (int i = 0; i < 100; i++) {
        std::shared_lock<std::shared_mutex> shared(lock);
        if (value > 100)
            std::terminate();
    }
}

int main() {
    std::thread first(write), second(read), third(read);
    first.join();
    second.join();
    third.join();
}
