// Stale values of which it has to be decided whether the program can tell. A case is named by the first argument.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __RSAN__
#include <rsan.h>
#endif

enum {
  RELAXED = memory_order_relaxed,
  ACQUIRE = memory_order_acquire,
  RELEASE = memory_order_release,
  ROUNDS = 11,
};

#define LOAD(object, order) atomic_load_explicit(&(object), order)
#define STORE(object, value, order) atomic_store_explicit(&(object), value, order)
#define CAS(object, expected, value) atomic_compare_exchange_strong_explicit(&(object), expected, value, RELEASE, RELAXED)
#define USE(value) __asm__ volatile("" : : "r"(value))

static atomic_int x, y, z;

// The second thread sees the flag, and may still take the first 0 for the second one, and replace it.
static void *write_the_same(void *unused) {
  STORE(x, 0, RELAXED);
  STORE(y, 1, RELEASE);
  return unused;
}
static void *replace(void *unused) {
  int expected = 0;
  if (LOAD(y, RELAXED) == 1 && LOAD(x, RELAXED) == 0)
    USE(CAS(x, &expected, 5));
  return unused;
}

// A stale value lets the loop wait longer in every round but the last one.
static void *count(void *unused) {
  for (int i = 1; i <= ROUNDS; i++) {
    STORE(x, i, RELAXED);
    STORE(y, i, RELAXED);
    while (LOAD(z, RELAXED) != i) {
    }
  }
  return unused;
}
static void *follow(void *unused) {
  for (int i = 1; i <= ROUNDS; i++) {
    int seen;
    while (LOAD(y, RELAXED) != i) {
    }
    do
      seen = LOAD(x, RELAXED);
    while (seen < i && i < ROUNDS);
    USE(seen);
    STORE(z, i, RELAXED);
  }
  return unused;
}

// A sequence number and a word under it: stale values of both fit together, unless the reader's fence makes what it has seen before
// happen after the first number, by a fence of the writer or by a store that releases.
#define UNDER_NUMBER(name, fence, store)                                                                                  \
  static void *write_##name(void *unused) {                                                                              \
    STORE(x, 1, RELAXED);                                                                                                \
    fence(RELEASE);                                                                                                      \
    STORE(y, 1, RELEASE);                                                                                                \
    STORE(x, 2, RELEASE);                                                                                                \
    STORE(z, 1, store);                                                                                                  \
    return unused;                                                                                                       \
  }                                                                                                                      \
  static void *read_##name(void *unused) {                                                                               \
    int before, value, after, flag = LOAD(z, RELAXED);                                                                     \
    do {                                                                                                                 \
      before = LOAD(x, ACQUIRE);                                                                                         \
      value = LOAD(y, RELAXED);                                                                                          \
      atomic_thread_fence(ACQUIRE);                                                                                      \
      after = LOAD(x, RELAXED);                                                                                          \
    } while (before != after || before & 1);                                                                             \
    USE(flag + value);                                                                                                   \
    return unused;                                                                                                       \
  }
#define NO_FENCE(order)
UNDER_NUMBER(unordered, NO_FENCE, RELAXED)
UNDER_NUMBER(fenced, atomic_thread_fence, RELAXED)
UNDER_NUMBER(released, NO_FENCE, RELEASE)

// The stale load comes before the loop that reads the same word, and nobody loads it again.
static void *write_both(void *unused) {
  STORE(y, 1, RELAXED);
  STORE(x, 1, RELAXED);
  return unused;
}
static void *load_then_wait(void *unused) {
  USE(LOAD(x, RELAXED));
  (void)LOAD(y, RELAXED);
  while (LOAD(y, RELAXED) != 1) {
  }
  return unused;
}
static void *load_then_wait_for_ever(void *unused) {
  USE(LOAD(x, RELAXED));
  (void)LOAD(y, RELAXED);
  while (LOAD(y, RELAXED) != 2) {
  }
  return unused;
}

// A ticket: who retries with what the compare-and-swap has found gets the same in the end. The first thread's store is before
// in every interleaving, but not in happens-before.
static void *add_first(void *unused) {
  atomic_fetch_add_explicit(&x, 1, RELAXED);
  STORE(y, 1, RELAXED);
  return unused;
}
static void *retry(void *unused) {
  if (LOAD(y, RELAXED)) {
    int seen = LOAD(x, RELAXED);
    while (!atomic_compare_exchange_strong_explicit(&x, &seen, seen + 1, RELAXED, RELAXED)) {
    }
  }
  return unused;
}

// Not a loop, but the same for the thread as one that ends when it has found something else: the compare-and-swap cannot replace the
// stale 0 and fails, and nobody looks at that. Or somebody does.
static void *test_and_swap(void *unused) {
  if (LOAD(y, RELAXED)) {
    int seen = 0;
    if (LOAD(x, RELAXED) == 0)
      (void)CAS(x, &seen, 5);
  }
  return unused;
}
static void *test_and_loop(void *unused) {
  if (LOAD(y, RELAXED)) {
    int seen = LOAD(x, RELAXED);
    while (seen == 0 && !CAS(x, &seen, 5)) {
    }
  }
  return unused;
}
static void *test_and_tell(void *unused) {
  if (LOAD(y, RELAXED)) {
    int seen = 0;
    if (LOAD(x, RELAXED) == 0 && !CAS(x, &seen, 5))
      STORE(z, 1, RELAXED);
  }
  return unused;
}
// The load acquires, and the failure does not.
static void *test_and_know_less(void *unused) {
  if (LOAD(y, RELAXED)) {
    int seen = 0;
    if (LOAD(x, ACQUIRE) == 0)
      (void)CAS(x, &seen, 5);
  }
  return unused;
}

// Two words, of which the loop waits for one after the other; what it read while it waited does not count.
static void *set_both(void *unused) {
  STORE(x, 1, RELAXED);
  STORE(y, 1, RELAXED);
  return unused;
}
static void *wait_plainly(void *unused) {
  while (!LOAD(y, RELAXED)) {
  }
  while (!LOAD(x, RELAXED)) {
  }
  return unused;
}
static void *wait_annotated(void *unused) {
#ifdef __RSAN__
  rsan_wait(&y, 1, RELAXED);
  rsan_wait(&x, 1, RELAXED);
#endif
  return unused;
}

static const struct {
  const char *name;
  void *(*first)(void *), *(*second)(void *);
} cases[] = {
    {"same-value", write_the_same, replace},
    {"eleventh", count, follow},
    {"two-words", write_unordered, read_unordered},
    {"two-words-fenced", write_fenced, read_fenced},
    {"two-words-released", write_released, read_released},
    {"before-wait", write_both, load_then_wait},
    {"before-endless-wait", write_both, load_then_wait_for_ever},
    {"retry", add_first, retry},
    {"test-and-swap", add_first, test_and_swap},
    {"test-and-loop", add_first, test_and_loop},
    {"test-and-tell", add_first, test_and_tell},
    {"test-and-know-less", add_first, test_and_know_less},
    {"wait", set_both, wait_plainly},
    {"wait-annotated", set_both, wait_annotated},
};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
      pthread_t first, second;
      pthread_create(&first, NULL, cases[i].first, NULL);
      pthread_create(&second, NULL, cases[i].second, NULL);
      pthread_join(first, NULL);
      pthread_join(second, NULL);
      return 0;
    }
  return 9;
}
