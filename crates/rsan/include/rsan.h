/* What a program can tell rsan. `rsan cc` and `rsan c++` find this file from any folder, and define __RSAN__; with other
   compilers everything here is plain C11 or C++11 and needs no library. The file may be copied. */
#ifndef RSAN_H
#define RSAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <atomic>
#include <cstring>
extern "C" {
#else
#include <stdatomic.h>
#endif

#ifdef __RSAN__
void __rsan_wait(const volatile void *address, size_t bytes, uint64_t value, int order);
uint64_t __rsan_wait_any(const volatile void *address, size_t bytes, const uint64_t *values, size_t count, int order);
void __rsan_bcas(volatile void *address, size_t bytes, uint64_t expected, uint64_t desired, int order);
void __rsan_benign_begin(void);
void __rsan_benign_end(void);
void __rsan_benign_address(const volatile void *address, size_t bytes);
void __rsan_snapshot(void);
#endif

#ifdef __cplusplus
}
#endif

/* rsan_wait(object, value, order): waits until the atomic object has the value, by loads of that order. To rsan it is one
   read of that value: what the loads read before is of no account.

   rsan_wait_any(object, order, values...): the same for several values, integers in C; returns the one that came.

   rsan_bcas(object, expected, desired, order): waits until the atomic object has the expected value, and replaces it by
   the desired one in the same step, which has that order. What is there before is of no account.

   The object is an atomic of 1, 2, 4 or 8 bytes; in C a pointer to it, in C++ a pointer to std::atomic. Without rsan both
   spin, and in C the values may be evaluated more than once. */
#ifdef __cplusplus

namespace rsan_detail {

template <class T> struct same {
    typedef T type;
};

#ifdef __RSAN__
template <class T> inline uint64_t bits(const T &value) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "rsan_wait and rsan_bcas take objects of at most 8 bytes");
    uint64_t result = 0;
    std::memcpy(&result, &value, sizeof(T));
    return result;
}
#endif

} // namespace rsan_detail

template <class T>
inline void rsan_wait(const std::atomic<T> *object, typename rsan_detail::same<T>::type value,
                      std::memory_order order) {
#ifdef __RSAN__
    __rsan_wait(object, sizeof(T), rsan_detail::bits(value), static_cast<int>(order));
#else
    while (object->load(order) != value) {
    }
#endif
}

template <class T, class... V>
inline T rsan_wait_any(const std::atomic<T> *object, std::memory_order order, V... values) {
#ifdef __RSAN__
    const uint64_t wanted[] = {rsan_detail::bits(static_cast<T>(values))...};
    const uint64_t seen = __rsan_wait_any(object, sizeof(T), wanted, sizeof...(V), static_cast<int>(order));
    T result;
    std::memcpy(&result, &seen, sizeof(T));
    return result;
#else
    const T wanted[] = {static_cast<T>(values)...};
    for (;;) {
        const T seen = object->load(order);
        for (const T &value : wanted)
            if (seen == value) return seen;
    }
#endif
}

template <class T>
inline void rsan_bcas(std::atomic<T> *object, typename rsan_detail::same<T>::type expected,
                      typename rsan_detail::same<T>::type desired, std::memory_order order) {
#ifdef __RSAN__
    __rsan_bcas(object, sizeof(T), rsan_detail::bits(expected), rsan_detail::bits(desired), static_cast<int>(order));
#else
    T found = expected;
    while (!object->compare_exchange_weak(found, desired, order, std::memory_order_relaxed)) found = expected;
#endif
}

#elif defined(__RSAN__)

#define rsan_wait(object, value, order)                                                                                \
    __rsan_wait((object), sizeof *(object), (uint64_t)(uintptr_t)(value), (int)(order))
#define rsan_wait_any(object, order, ...)                                                                              \
    ((__typeof__((void)0, *(object)))__rsan_wait_any((object), sizeof *(object), (const uint64_t[]){__VA_ARGS__},      \
                                                     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),       \
                                                     (int)(order)))
#define rsan_bcas(object, expected, desired, order)                                                                    \
    __rsan_bcas((object), sizeof *(object), (uint64_t)(uintptr_t)(expected), (uint64_t)(uintptr_t)(desired),           \
                (int)(order))

#else

#define rsan_wait(object, value, order)                                                                                \
    do {                                                                                                               \
        while (atomic_load_explicit((object), (order)) != (value)) {                                                   \
        }                                                                                                              \
    } while (0)
#define rsan_wait_any(object, order, ...)                                                                              \
    __extension__({                                                                                                    \
        const uint64_t rsan_values_[] = {__VA_ARGS__};                                                                 \
        const size_t rsan_count_ = sizeof rsan_values_ / sizeof *rsan_values_;                                         \
        __typeof__((void)0, *(object)) rsan_seen_;                                                                     \
        size_t rsan_at_;                                                                                               \
        do {                                                                                                           \
            rsan_seen_ = atomic_load_explicit((object), (order));                                                      \
            for (rsan_at_ = 0; rsan_at_ < rsan_count_; rsan_at_++)                                                     \
                if (rsan_seen_ == (__typeof__(rsan_seen_))rsan_values_[rsan_at_]) break;                               \
        } while (rsan_at_ == rsan_count_);                                                                             \
        rsan_seen_;                                                                                                    \
    })
#define rsan_bcas(object, expected, desired, order)                                                                    \
    do {                                                                                                               \
        __typeof__((void)0, *(object)) rsan_found_;                                                                    \
        do {                                                                                                           \
            rsan_found_ = (expected);                                                                                  \
        } while (!atomic_compare_exchange_weak_explicit((object), &rsan_found_, (desired), (order),                    \
                                                        memory_order_relaxed));                                        \
    } while (0)

#endif

/* rsan_benign_begin(), rsan_benign_end(): what this thread does in between is no finding. They nest.

   RSAN_BENIGN(expression): the same for one expression, whose value it has.

   rsan_benign_address(address, bytes): what is about this memory is no finding, from now on and for as long as the
   program runs, whatever the memory is used for later. */
#ifdef __RSAN__
#define rsan_benign_begin() __rsan_benign_begin()
#define rsan_benign_end() __rsan_benign_end()
#define rsan_benign_address(address, bytes) __rsan_benign_address((address), (bytes))
#ifdef __cplusplus
struct rsan_benign_scope {
    rsan_benign_scope() { __rsan_benign_begin(); }
    ~rsan_benign_scope() { __rsan_benign_end(); }
    rsan_benign_scope(const rsan_benign_scope &) = delete;
    rsan_benign_scope &operator=(const rsan_benign_scope &) = delete;
};
/* The scope lasts until the end of the statement. */
#define RSAN_BENIGN(expression) (static_cast<void>(rsan_benign_scope()), (expression))
#else
#define RSAN_BENIGN(expression)                                                                                        \
    __extension__({                                                                                                    \
        __rsan_benign_begin();                                                                                         \
        __auto_type rsan_value_ = (expression);                                                                        \
        __rsan_benign_end();                                                                                           \
        rsan_value_;                                                                                                   \
    })
#endif
#else
#define rsan_benign_begin() ((void)0)
#define rsan_benign_end() ((void)0)
#define rsan_benign_address(address, bytes) ((void)(address), (void)(bytes))
#define RSAN_BENIGN(expression) (expression)
#endif

/* rsan_snapshot(): where runs begin whose schedule is rsan's (`rsan run --sched`), if RSAN_OPTIONS has `at_marker=1`;
   else they begin at main. What the program has done before is done once. There must be no other threads yet. */
#ifdef __RSAN__
#define rsan_snapshot() __rsan_snapshot()
#else
#define rsan_snapshot() ((void)0)
#endif

#endif
