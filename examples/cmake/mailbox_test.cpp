// Sends numbers through a mailbox and adds them up.
#include "mailbox.h"

#include <cstdio>
#include <thread>

int main() {
    constexpr int messages = 10;
    Mailbox<int> mailbox;
    std::thread sender([&] {
        for (int i = 1; i <= messages; i++)
            mailbox.put(i);
    });
    int sum = 0;
    for (int i = 0; i < messages; i++)
        sum += mailbox.take();
    sender.join();
    std::printf("sum %d\n", sum);
    return sum == messages * (messages + 1) / 2 ? 0 : 1;
}
