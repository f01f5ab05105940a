// A new object without a constructor is given away without an order.
// expect: data-race
// options: allocations=1
#include <atomic>
#include <thread>

struct Item {
    int value;
};

static std::atomic<Item *> shared;
static int sum;

int main() {
    std::thread reader([] {
        Item *item;
        while (!(item = shared.load(std::memory_order_relaxed))) {
        }
        sum += item->value; // <- data-race
    });
    Item *item = new Item; // <- data-race
    shared.store(item, std::memory_order_relaxed);
    reader.join();
    delete item;
    return 0;
}
