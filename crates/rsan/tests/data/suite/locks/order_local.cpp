// std::mutex has no destructor to see: two of them at one place of the stack are two locks.
// expect: nothing
#include <mutex>

static std::mutex global;

__attribute__((noinline)) static void inner() {
    std::mutex local;
    std::lock_guard<std::mutex> first(local);
    std::lock_guard<std::mutex> second(global);
}

__attribute__((noinline)) static void outer() {
    std::mutex local;
    std::lock_guard<std::mutex> first(global);
    std::lock_guard<std::mutex> second(local);
}

int main() {
    inner();
    outer();
    inner();
}
