// std::atomic::wait and notify_one.
// expect: nothing
// flags: -std=c++20
#include <atomic>
#include <thread>
int main() {
    std::atomic<int> stage{0};
    int value = 0;
    std::thread giver([&] {
        value = 42;
        stage.store(1, std::memory_order_release);
        stage.notify_one();
        stage.wait(1, std::memory_order_acquire);
        value = 44;
    });
    stage.wait(0, std::memory_order_acquire);
    value++;
    stage.store(2, std::memory_order_release);
    stage.notify_one();
    giver.join();
    return value - 44;
}
