// std::jthread joins by itself and is asked to stop.
// expect: nothing
// flags: -std=c++20
#include <thread>
int main() {
    int rounds = 0;
    {
        std::jthread worker([&](std::stop_token stop) {
            while (!stop.stop_requested())
                rounds++;
        });
    }
    return rounds < 0;
}
