// std::call_once, also when the first try throws.
// expect: nothing
#include <mutex>
#include <thread>
static std::once_flag once;
static int tries, value;

static void initialise() {
    if (tries++ == 0)
        throw tries;
    value = 42;
}

static void use() {
    for (;;) {
        try {
            std::call_once(once, initialise);
            break;
        } catch (int) {
        }
    }
    if (value != 42)
        std::terminate();
}

int main() {
    std::thread first(use), second(use);
    first.join();
    second.join();
}
