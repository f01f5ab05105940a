// Loops that only wait, and others, by the name of the argument.
#include "cases.h"
#include <stdatomic.h>

enum { RELAXED = memory_order_relaxed, ACQUIRE = memory_order_acquire, RELEASE = memory_order_release };

static atomic_int wants[2], turn, next, now, lock, data, flag, counter;

static void count(void) { atomic_store_explicit(&counter, atomic_load_explicit(&counter, RELAXED) + 1, RELAXED); }

// A loop that reads two words.
static void *peterson(void *number) {
  int me = *(int *)number, other = 1 - me;
  atomic_store(&wants[me], 1);
  atomic_store(&turn, other);
  while (atomic_load(&wants[other]) && atomic_load(&turn) == other) {
  }
  count();
  atomic_store(&wants[me], 0);
  return NULL;
}

static void *ticket(void *unused) {
  (void)unused;
  int mine = atomic_fetch_add_explicit(&next, 1, RELAXED);
  while (atomic_load_explicit(&now, ACQUIRE) != mine) {
  }
  count();
  atomic_store_explicit(&now, mine + 1, RELEASE);
  return NULL;
}

// A loop that writes what is there.
static void *exchange(void *unused) {
  (void)unused;
  while (atomic_exchange_explicit(&lock, 1, ACQUIRE)) {
  }
  count();
  atomic_store_explicit(&lock, 0, RELEASE);
  return NULL;
}

// A loop that compares, and writes what is there.
static void *compare(void *number) {
  if (*(int *)number == 0) {
    atomic_store(&data, 1);
    atomic_store(&flag, 1);
    return NULL;
  }
  int expected = 0;
  while (atomic_compare_exchange_strong(&flag, &expected, 0)) {
  }
  atomic_load(&data);
  return NULL;
}

// The last thread may read an old value, unless its loop has seen the first thread's flag before.
static void *hidden(void *number) {
  switch (*(int *)number) {
  case 0:
    atomic_store_explicit(&data, 1, RELAXED);
    atomic_store_explicit(&flag, 1, RELEASE);
    break;
  case 1:
    while (atomic_load_explicit(&flag, ACQUIRE) != 2) {
    }
    atomic_load_explicit(&data, RELAXED);
    break;
  default:
    while (atomic_load_explicit(&flag, RELAXED) != 1) {
    }
    atomic_store_explicit(&flag, 2, RELAXED);
  }
  return NULL;
}

// The first waits for ever if it has missed what the second overwrites.
static void *stuck(void *number) {
  if (*(int *)number) {
    atomic_store(&flag, 1);
    atomic_store(&flag, 2);
    return NULL;
  }
  while (atomic_load(&flag) != 1) {
  }
  return NULL;
}

// A loop that reads another word in each round, which only the call's argument tells.
static struct node {
  _Atomic(struct node *) next;
} nodes[4] = {{&nodes[1]}, {&nodes[2]}, {NULL}, {NULL}};

static void *list(void *number) {
  if (*(int *)number) {
    atomic_store_explicit(&nodes[1].next, NULL, RELEASE);
    atomic_store_explicit(&nodes[0].next, &nodes[3], RELEASE);
    return NULL;
  }
  struct node *node = &nodes[0];
  while (node)
    node = atomic_load_explicit(&node->next, ACQUIRE);
  return NULL;
}

// Accesses of several sizes.
static void *mixed(void *number) {
  static _Alignas(4) unsigned char bytes[4];
  if (*(int *)number)
    __atomic_store_n((int *)bytes, 1, __ATOMIC_SEQ_CST);
  else
    __atomic_load_n(&bytes[1], __ATOMIC_SEQ_CST);
  return NULL;
}

int main(int argc, char **argv) {
  static const struct program all[] = {{"peterson", peterson, 2}, {"ticket", ticket, 3}, {"exchange", exchange, 3}, {"compare", compare, 3}, {"hidden", hidden, 3}, {"stuck", stuck, 2}, {"list", list, 2}, {"mixed", mixed, 2}};
  return run_named(argc, argv, all, sizeof all / sizeof *all);
}
