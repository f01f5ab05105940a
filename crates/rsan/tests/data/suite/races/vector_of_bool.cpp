// Elements of a vector<bool> share words.
// expect: data-race
#include <thread>
#include <vector>
static std::vector<bool> flags(8);

static void set(int at) { flags[at] = true; }

int main() {
    std::thread first(set, 0);
    std::thread second(set, 1);
    first.join();
    second.join();
}
