// A queue with std::mutex and std::condition_variable.
// expect: nothing
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
static std::mutex lock;
static std::condition_variable filled;
static std::deque<std::unique_ptr<int>> queue;

int main() {
    std::thread giver([] {
        for (int i = 1; i <= 50; i++) {
            std::lock_guard<std::mutex> own(lock);
            queue.push_back(std::unique_ptr<int>(new int(i)));
            filled.notify_one();
        }
    });
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        std::unique_lock<std::mutex> own(lock);
        filled.wait(own, [] { return !queue.empty(); });
        std::unique_ptr<int> next = std::move(queue.front());
        queue.pop_front();
        own.unlock();
        sum += *next;
    }
    giver.join();
    return sum - 1275;
}
