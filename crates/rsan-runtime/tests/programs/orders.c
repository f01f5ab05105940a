// findings: none
// Every size and operation computes what it should.
#include "turn.h"

#define CHECK(what) if (!(what)) return __LINE__ % 255 + 1
#define SIZE(type, max) do { \
    static _Atomic type x; \
    type expected = 0; \
    CHECK(atomic_load(&x) == 0); \
    atomic_store(&x, 5); \
    CHECK(atomic_exchange(&x, 6) == 5); \
    CHECK(atomic_fetch_add(&x, 3) == 6 && atomic_load(&x) == 9); \
    CHECK(atomic_fetch_sub(&x, 10) == 9 && atomic_load(&x) == (type)max); \
    CHECK(atomic_fetch_and(&x, 0x3c) == (type)max && atomic_load(&x) == 0x3c); \
    CHECK(atomic_fetch_or(&x, 3) == 0x3c && atomic_load(&x) == 0x3f); \
    CHECK(atomic_fetch_xor(&x, 0xf) == 0x3f && atomic_load(&x) == 0x30); \
    CHECK(__atomic_fetch_nand((type *)&x, 0x10, __ATOMIC_RELAXED) == 0x30 && atomic_load(&x) == (type)~0x10); \
    CHECK(!atomic_compare_exchange_strong(&x, &expected, 1) && expected == (type)~0x10); \
    CHECK(atomic_compare_exchange_strong(&x, &expected, 1) && atomic_load(&x) == 1); \
    expected = 1; \
    while (!atomic_compare_exchange_weak(&x, &expected, 2)) ; \
    CHECK(atomic_load(&x) == 2); \
} while (0)

int main(void) {
    SIZE(unsigned char, 0xff);
    SIZE(unsigned short, 0xffff);
    SIZE(unsigned, 0xffffffff);
    SIZE(unsigned long long, 0xffffffffffffffff);
    return 0;
}
