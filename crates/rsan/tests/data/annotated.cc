// Annotations in C++, with types of several sizes.
#include <rsan.h>
#include <thread>

static std::atomic<int> ready{0};
static std::atomic<bool> lock{false};
static std::atomic<int *> pointer{nullptr};
static int data, statistics;

static void work() {
    rsan_wait(&ready, 1, std::memory_order_acquire);
    rsan_bcas(&lock, false, true, std::memory_order_acquire);
    data++;
    lock.store(false, std::memory_order_release);
    rsan_wait(&pointer, &data, std::memory_order_acquire);
    rsan_wait_any(&ready, std::memory_order_relaxed, -1, 1);
    RSAN_BENIGN(statistics++);
}

int main() {
    rsan_benign_address(&statistics, sizeof statistics);
    std::thread first(work), second(work);
    pointer.store(&data, std::memory_order_release);
    ready.store(1, std::memory_order_release);
    first.join();
    second.join();
    return data == 2 ? 0 : 1;
}
