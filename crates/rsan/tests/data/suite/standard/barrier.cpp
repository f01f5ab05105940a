// std::barrier separates phases, and its completion runs between them.
// expect: nothing
// flags: -std=c++20
#include <barrier>
#include <thread>
static int cells[2], sum;

int main() {
    auto add = []() noexcept { sum = cells[0] + cells[1]; };
    std::barrier phase(2, add);
    auto work = [&](int me) {
        for (int round = 1; round <= 20; round++) {
            cells[me] = round;
            phase.arrive_and_wait();
            if (sum != 2 * round)
                std::terminate();
            phase.arrive_and_wait();
        }
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
}
