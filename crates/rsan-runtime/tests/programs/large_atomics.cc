// findings: none
// Atomic objects of every size, also those that are larger than a processor's word: order is carried by all of them.
#include <atomic>
#include <cstdlib>
#include <thread>

template <int N> struct Bytes {
    unsigned char at[N];
};

template <int N> static bool pass() {
    static std::atomic<Bytes<N>> box;
    static int payload;
    payload = 0;
    box.store(Bytes<N>{}, std::memory_order_relaxed);
    std::thread writer([] {
        payload = N;
        Bytes<N> full;
        for (auto &byte : full.at) byte = 1;
        Bytes<N> old = box.exchange(full, std::memory_order_release);
        if (old.at[0]) std::abort();
    });
    std::thread reader([] {
        for (;;) {
            Bytes<N> got = box.load(std::memory_order_acquire);
            if (got.at[N - 1] == 0) {
                std::this_thread::yield();
                continue;
            }
            for (auto byte : got.at)
                if (byte != 1) std::abort();
            if (payload != N) std::abort();
            Bytes<N> next{};
            if (!box.compare_exchange_strong(got, next, std::memory_order_acq_rel)) std::abort();
            if (box.compare_exchange_strong(got, next) || got.at[0]) std::abort();
            return;
        }
    });
    writer.join();
    reader.join();
    return true;
}

int main() {
    return pass<1>() && pass<2>() && pass<3>() && pass<4>() && pass<5>() && pass<8>() && pass<12>() && pass<16>() &&
                   pass<24>() && pass<100>()
               ? 0
               : 1;
}
