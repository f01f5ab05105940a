// A cache under a readers-writer lock. Lookups take it shared, but count their hits: readers write.
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

class Cache {
    mutable std::shared_mutex mutex;
    std::map<int, int> squares;
    long hits = 0;

public:
    void fill() {
        std::unique_lock<std::shared_mutex> lock(mutex);
        for (int i = 0; i < 10; i++)
            squares[i] = i * i;
    }

    int find(int key) {
#ifdef FIXED
        std::unique_lock<std::shared_mutex> lock(mutex);
#else
        std::shared_lock<std::shared_mutex> lock(mutex);
#endif
        auto found = squares.find(key);
        if (found == squares.end())
            return -1;
        hits++;
        return found->second;
    }

    long count() {
        std::shared_lock<std::shared_mutex> lock(mutex);
        return hits;
    }
};

int main() {
    Cache cache;
    cache.fill();
    std::thread first([&] { cache.find(3); });
    std::thread second([&] { cache.find(4); });
    first.join();
    second.join();
    std::printf("%ld hits\n", cache.count());
}
