// std::latch orders what is before count_down before what is after wait.
// expect: nothing
// flags: -std=c++20
#include <latch>
#include <thread>
int main() {
    std::latch ready(2);
    int values[2] = {};
    auto work = [&](int me) {
        values[me] = me + 1;
        ready.count_down();
    };
    std::thread first(work, 0), second(work, 1);
    ready.wait();
    int sum = values[0] + values[1];
    first.join();
    second.join();
    return sum - 3;
}
