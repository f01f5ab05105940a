// A promise hands a value to its future.
// expect: nothing
#include <future>
#include <thread>
int main() {
    int value = 0;
    std::promise<int *> promise;
    auto future = promise.get_future();
    std::thread giver([&] {
        value = 42;
        promise.set_value(&value);
    });
    int seen = *future.get();
    giver.join();
    return seen - 42;
}
