// Variables, heap blocks and threads of C++, each with a finding of its own.
#include "pinned.h"
#include <atomic>
#include <cstdlib>
#include <thread>

namespace app {
struct Queue {
    int head;
    std::atomic<int> slots[4];
    struct {
        long first, second;
    } pair;
};
Queue queue;
} // namespace app

struct Node {
    long next;
    std::atomic<int> value;
};

static int grid[3][4];
static int *block;
static Node *node;

static void other() {
    wait_for_main();
    app::queue.slots[2].store(1, std::memory_order_relaxed);
    node->value.load(std::memory_order_relaxed);
    app::queue.pair.second = 1;
    grid[1][2] = 1;
    block[2] = 2;
}

int main() {
    block = static_cast<int *>(malloc(64));
    node = new Node();
    std::thread thread(other);
    node->value.store(1, std::memory_order_relaxed);
    app::queue.slots[2].load(std::memory_order_relaxed);
    app::queue.pair.second = 2;
    grid[1][2] += 2;
    block[2] = 1;
    free(block);
    let_go();
    thread.join();
}
