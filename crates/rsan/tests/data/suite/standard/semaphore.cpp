// std::counting_semaphore hands a slot over.
// expect: nothing
// flags: -std=c++20
#include <semaphore>
#include <thread>
int main() {
    std::counting_semaphore<1> empty(1), full(0);
    int slot = 0, sum = 0;
    std::thread giver([&] {
        for (int i = 1; i <= 50; i++) {
            empty.acquire();
            slot = i;
            full.release();
        }
    });
    for (int i = 1; i <= 50; i++) {
        full.acquire();
        sum += slot;
        empty.release();
    }
    giver.join();
    return sum - 1275;
}
