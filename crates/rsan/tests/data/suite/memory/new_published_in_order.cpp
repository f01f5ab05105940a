// New objects are handed over by a mutex and by a future.
// expect: nothing
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::unique_ptr<std::vector<std::string>> shared;

int main() {
    std::thread writer([] {
        auto items = std::make_unique<std::vector<std::string>>(100, "an element that is not a short one");
        std::lock_guard<std::mutex> guard(mutex);
        shared = std::move(items);
    });
    auto later = std::async(std::launch::async, [] { return std::make_unique<std::string>(200, 'x'); });
    size_t size = later.get()->size();
    writer.join();
    std::lock_guard<std::mutex> guard(mutex);
    return size == 200 && shared->size() == 100 && shared->front().size() > 10 ? 0 : 1;
}
