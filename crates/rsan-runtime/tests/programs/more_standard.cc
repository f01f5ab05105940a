// findings: none
// More of the C++ library: futures, call_once, statics, streams, shared pointers given between threads, thread-local
// objects, exceptions that cross threads.
#include <atomic>
#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Counted {
    static std::atomic<int> alive;
    std::string name = "counted";
    Counted() { alive++; }
    ~Counted() { alive--; }
};
std::atomic<int> Counted::alive{0};

thread_local std::vector<std::string> lines;

static const std::map<int, std::string> &names() {
    static const std::map<int, std::string> it = {{1, "one"}, {2, "two"}, {3, "three"}};
    return it;
}

static int compute(int n) {
    std::ostringstream text;
    text << "value " << n << ' ' << names().at(n % 3 + 1);
    lines.push_back(text.str());
    std::cout << text.str() << '\n';
    if (n == 7) throw std::runtime_error(text.str());
    return static_cast<int>(lines.back().size());
}

int main() {
    std::once_flag once;
    int set = 0, sum = 0, caught = 0;
    std::vector<std::future<int>> results;
    for (int n = 0; n < 16; n++)
        results.push_back(std::async(std::launch::async, [&, n] {
            std::call_once(once, [&] { set++; });
            return set + compute(n);
        }));
    for (auto &result : results) try {
            sum += result.get();
        } catch (const std::runtime_error &error) {
            caught += std::string(error.what()) == "value 7 two";
        }
    std::promise<std::unique_ptr<int>> promise;
    auto future = promise.get_future().share();
    std::thread reader([future] { *future.get() += 1; });
    promise.set_value(std::make_unique<int>(41));
    reader.join();
    auto shared = std::make_shared<Counted>();
    std::weak_ptr<Counted> weak = shared;
    std::vector<std::thread> owners;
    for (int i = 0; i < 4; i++)
        owners.emplace_back([copy = shared, &weak] {
            auto again = weak.lock();
            if (again && again->name != "counted") std::abort();
        });
    shared.reset();
    for (auto &owner : owners) owner.join();
    std::packaged_task<int(int)> task(compute);
    auto answer = task.get_future();
    std::thread(std::move(task), 3).detach();
    sum += answer.get();
    std::timed_mutex timed;
    std::unique_lock lock(timed, std::chrono::seconds(1));
    return set == 1 && caught == 1 && *future.get() == 42 && Counted::alive == 0 && sum > 16 && lock ? 0 : 1;
}
