#include <mutex>
#include <thread>

static std::mutex lock;
static int counter;

static void add() {
    std::lock_guard<std::mutex> guard(lock);
    counter++;
}

int main() {
    std::thread other(add);
    add();
    other.join();
    return counter == 2 ? 0 : 1;
}
