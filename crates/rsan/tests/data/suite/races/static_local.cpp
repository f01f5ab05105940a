// The first caller initialises a static object, and all see it whole.
// expect: nothing
#include <thread>
struct Table {
    int cells[16];
    Table() {
        for (int i = 0; i < 16; i++)
            cells[i] = i;
    }
};

static int look(int at) {
    static Table table;
    return table.cells[at];
}

int main() {
    int sums[2] = {};
    std::thread first([&] { sums[0] = look(3); });
    std::thread second([&] { sums[1] = look(3); });
    first.join();
    second.join();
    return sums[0] + sums[1] - 6;
}
