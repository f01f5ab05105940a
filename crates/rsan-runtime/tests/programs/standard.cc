// findings: none
// The C++ library: threads, locks, shared pointers, statics and exceptions.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Table {
    std::vector<std::string> rows;
    Table() { for (int i = 0; i < 100; i++) rows.push_back(std::to_string(i)); }
};

static const Table &table() {
    static Table it;
    return it;
}

static void fail(int depth) {
    if (depth == 0) throw std::runtime_error("as planned");
    fail(depth - 1);
}

int main() {
    std::mutex mutex;
    std::shared_mutex shared;
    std::condition_variable changed;
    std::atomic<int> caught{0};
    auto object = std::make_shared<std::vector<int>>(1000, 1);
    int ready = 0, sum = 0, written = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, object] {
            int mine = 0;
            for (int v : *object) mine += v;
            for (auto &row : table().rows) mine += row.size() ? 0 : 1;
            for (int i = 0; i < 100; i++) {
                try {
                    fail(5);
                } catch (const std::exception &) {
                    caught.fetch_add(1, std::memory_order_relaxed);
                }
                if (i % 10) {
                    std::shared_lock lock(shared);
                    mine += written ? 0 : 0;
                } else {
                    std::unique_lock lock(shared);
                    written++;
                }
            }
            std::unique_lock lock(mutex);
            sum += mine;
            ready++;
            changed.notify_all();
            changed.wait(lock, [&] { return ready == 4; });
        });
    }
    object.reset();
    for (auto &thread : threads) thread.join();
    return sum == 4000 && caught == 400 && written == 40 ? 0 : 1;
}
