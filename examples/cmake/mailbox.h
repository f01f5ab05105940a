// A mailbox for one message at a time, from one thread to another.
#pragma once

#include <atomic>
#include <thread>

template <typename T>
class Mailbox {
    T message{};
    std::atomic<bool> full{false};

#ifdef FIXED
    static constexpr auto publish = std::memory_order_release;
#else
    static constexpr auto publish = std::memory_order_relaxed;
#endif

public:
    void put(T next) {
        while (full.load(std::memory_order_acquire))
            std::this_thread::yield();
        message = next;
        full.store(true, publish);
    }

    T take() {
        while (!full.load(std::memory_order_acquire))
            std::this_thread::yield();
        T taken = message;
        full.store(false, std::memory_order_release);
        return taken;
    }
};
