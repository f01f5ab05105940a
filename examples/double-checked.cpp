// Double-checked locking: glyphs are drawn when they are first asked for. The fast path takes no lock, and its
// relaxed load does not acquire, so it may see a pointer to a glyph that is not drawn yet.
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#ifdef FIXED
constexpr auto lookup = std::memory_order_acquire;
constexpr auto publish = std::memory_order_release;
#else
constexpr auto lookup = std::memory_order_relaxed;
constexpr auto publish = std::memory_order_relaxed;
#endif

struct Glyph {
    int width;
};

class Font {
    std::array<std::atomic<Glyph *>, 26> glyphs{};
    std::mutex drawing;

public:
    Glyph *glyph(int letter) {
        auto &slot = glyphs[letter];
        Glyph *known = slot.load(lookup);
        if (known == nullptr) {
            std::lock_guard<std::mutex> guard(drawing);
            known = slot.load(std::memory_order_relaxed);
            if (known == nullptr) {
                known = new Glyph;
                known->width = 8 + letter % 3;
                slot.store(known, publish);
            }
        }
        return known;
    }

    ~Font() {
        for (auto &slot : glyphs)
            delete slot.load();
    }
};

int main() {
    Font font;
    auto measure = [&font](int from, int step, int &width) {
        for (int letter = from; letter >= 0 && letter < 26; letter += step)
            width += font.glyph(letter)->width;
    };
    int forward = 0, backward = 0;
    std::thread first([&] { measure(0, 1, forward); });
    std::thread second([&] { measure(25, -1, backward); });
    first.join();
    second.join();
    std::printf("%d %d\n", forward, backward);
}
