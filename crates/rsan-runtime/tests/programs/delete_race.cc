// findings: race
// An object is deleted although another thread uses it without any order.
#include <atomic>
#include <string>
#include <thread>

struct Object {
    int value = 1;
    std::string text = "a text that is too long to be kept inside of the object itself";
};

static volatile int turn;

__attribute__((no_sanitize("thread"), noinline)) static void wait_for(int wanted) {
    while (turn != wanted) std::this_thread::yield();
}

__attribute__((no_sanitize("thread"), noinline)) static void next() { turn = turn + 1; }

int main() {
    auto *object = new Object;
    std::thread user([object] {
        wait_for(0);
        object->value = 2;
        next();
    });
    std::thread owner([object] {
        wait_for(1);
        delete object;
    });
    user.join();
    owner.join();
}
