// What the C++ library and libc do for a thread, at its end and before; ends with status 1 if something is not done. Stores how many
// kernel threads there are while there are three threads.
#include <pthread.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

static std::atomic<int> objects{0}, values{0}, unwound{0}, once{0}, tasks{0};

#define CHECK(condition)                                                   \
    do {                                                                   \
        if (!(condition)) {                                                \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);   \
            std::exit(1);                                                  \
        }                                                                  \
    } while (0)

struct Object {
    std::string text = "a text that is longer than what fits into the object itself";
    ~Object() { objects.fetch_add(text.size() == 60, std::memory_order_relaxed); }
};

static thread_local Object object;
static thread_local int number = 7;

static pthread_key_t first, second;

// Gives the second key a value, whose destructor comes in this round or in the next.
static void destroy_first(void *value) {
    CHECK(pthread_getspecific(first) == nullptr);
    values.fetch_add(*static_cast<int *>(value));
    delete static_cast<int *>(value);
    pthread_setspecific(second, new int(100));
}

static void destroy_second(void *value) {
    values.fetch_add(*static_cast<int *>(value));
    delete static_cast<int *>(value);
}

struct Unwinds {
    ~Unwinds() { unwound.fetch_add(1); }
};

static void throws(int argument) {
    Unwinds here;
    if (argument > 0)
        throw std::runtime_error("thrown " + std::to_string(argument));
}

static std::once_flag flag;
static std::mutex mutex;
static std::condition_variable changed;
static std::set<pthread_t> handles;

static void work(int argument) {
    CHECK(number == 7);
    number += argument;
    object.text += argument > 0 ? "!" : "?";
    pthread_setspecific(first, new int(argument));
    errno = argument;
    std::call_once(flag, [] { once.fetch_add(1); });
    try {
        throws(argument);
        CHECK(argument == 0);
    } catch (const std::runtime_error &error) {
        CHECK(error.what() == "thrown " + std::to_string(argument));
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        CHECK(handles.insert(pthread_self()).second);
        changed.notify_all();
    }
    CHECK(errno == argument && number == 7 + argument);
}

static void *leaves(void *argument) {
    Unwinds here;
    pthread_setspecific(first, new int(10));
    object.text += '.';
    if (argument != nullptr)
        pthread_exit(argument);
    return &first;
}

int main() {
    pthread_key_create(&first, destroy_first);
    pthread_key_create(&second, destroy_second);
    std::unique_lock<std::mutex> lock(mutex);
    std::thread one(work, 1), two(work, 2);
    struct stat status;
    CHECK(stat("/proc/self/task", &status) == 0);
    tasks.store(static_cast<int>(status.st_nlink) - 2);
    changed.wait(lock, [] { return handles.size() == 2; });
    lock.unlock();
    const pthread_t handle = one.native_handle();
    CHECK(handles.count(handle) == 1 && handles.count(pthread_self()) == 0);
    one.join();
    two.join();
    CHECK(once == 1 && objects == 2 && values == 203 && unwound == 2);
    pthread_t last;
    void *result = nullptr;
    pthread_create(&last, nullptr, leaves, &mutex);
    pthread_join(last, &result);
    CHECK(result == &mutex && unwound == 3 && objects == 3 && values == 313);
    pthread_create(&last, nullptr, leaves, nullptr);
    pthread_join(last, &result);
    CHECK(result == &first && unwound == 4 && objects == 4 && values == 423);
    // The process ends with its last thread.
    std::thread([] { objects.store(9); }).detach();
    pthread_exit(nullptr);
}
