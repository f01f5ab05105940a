// std::async and its future.
// expect: nothing
#include <future>
#include <vector>
int main() {
    std::vector<int> values(4);
    std::vector<std::future<void>> parts;
    for (int i = 0; i < 4; i++)
        parts.push_back(std::async(std::launch::async, [&values, i] { values[i] = i; }));
    for (auto &part : parts)
        part.get();
    int sum = 0;
    for (int value : values)
        sum += value;
    return sum - 6;
}
