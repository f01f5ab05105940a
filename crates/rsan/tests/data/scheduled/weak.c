// Weak compare-and-swaps, by the name of the argument: those that are tried again, and others.
#include "cases.h"
#include <stdatomic.h>

enum { RELAXED = memory_order_relaxed, ACQUIRE = memory_order_acquire, RELEASE = memory_order_release };

static atomic_int counter, lock, attempts;
static int data;

// The usual loops.
static void *add(void *unused) {
  int old = atomic_load_explicit(&counter, RELAXED);
  while (!atomic_compare_exchange_weak_explicit(&counter, &old, old + 1, RELAXED, RELAXED)) {
  }
  return unused;
}

static struct node {
  struct node *next;
} nodes[3];
static _Atomic(struct node *) top;

static void *push(void *number) {
  struct node *node = &nodes[*(int *)number], *old = atomic_load_explicit(&top, RELAXED);
  do
    node->next = old;
  while (!atomic_compare_exchange_weak_explicit(&top, &old, node, RELEASE, RELAXED));
  return NULL;
}

static void *locked(void *unused) {
  int open = 0;
  while (!atomic_compare_exchange_weak_explicit(&lock, &open, 1, ACQUIRE, RELAXED))
    open = 0;
  data++;
  atomic_store_explicit(&lock, 0, RELEASE);
  return unused;
}

// Only a failure without a reason leads to the race.
static void *once(void *number) {
  int open = 0;
  if (*(int *)number)
    data = 1;
  else if (!atomic_compare_exchange_weak_explicit(&lock, &open, 1, RELAXED, RELAXED))
    data = 2;
  return NULL;
}

// The loop knows that it failed.
static void *counting(void *number) {
  int open = 0, failed = 0;
  if (*(int *)number) {
    data = 1;
    return NULL;
  }
  while (!atomic_compare_exchange_weak_explicit(&lock, &open, 1, RELAXED, RELAXED))
    open = 0, failed = 1;
  if (failed)
    data = 2;
  return NULL;
}

// What failed is seen by others.
static void *telling(void *unused) {
  int old = atomic_load_explicit(&counter, RELAXED);
  while (!atomic_compare_exchange_weak_explicit(&counter, &old, old + 1, RELAXED, RELAXED))
    atomic_fetch_add_explicit(&attempts, 1, RELAXED);
  return unused;
}

// This one does not fail without a reason.
static void *strong(void *number) {
  int open = 0;
  if (*(int *)number)
    data = 1;
  else if (!atomic_compare_exchange_strong_explicit(&lock, &open, 1, RELAXED, RELAXED))
    data = 2;
  return NULL;
}

int main(int argc, char **argv) {
  static const struct program all[] = {{"add", add, 3}, {"push", push, 2}, {"locked", locked, 2}, {"once", once, 2}, {"counting", counting, 2}, {"telling", telling, 2}, {"strong", strong, 2}};
  return run_named(argc, argv, all, sizeof all / sizeof *all);
}
