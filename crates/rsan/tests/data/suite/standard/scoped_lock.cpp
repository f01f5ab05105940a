// std::scoped_lock takes two locks in whatever order without a deadlock.
// expect: nothing
// flags: -std=c++17
#include <mutex>
#include <thread>
static std::mutex a, b;
static int value;

int main() {
    std::thread first([] {
        for (int i = 0; i < 100; i++) {
            std::scoped_lock both(a, b);
            value++;
        }
    });
    for (int i = 0; i < 100; i++) {
        std::scoped_lock both(b, a);
        value++;
    }
    first.join();
    return value - 200;
}
