// Loops that wait for words on stacks, by the name of the argument.
#include "cases.h"
#include <stdatomic.h>

// A queue lock whose nodes are on the stacks of those who wait.
struct node {
  _Atomic(struct node *) next;
  atomic_int gate;
};

static _Atomic(struct node *) tail;
static int shared;

static void lock(struct node *me) {
  atomic_store(&me->next, NULL);
  atomic_store(&me->gate, 1);
  struct node *before = atomic_exchange(&tail, me);
  if (before) {
    atomic_store(&before->next, me);
    while (atomic_load(&me->gate)) {
    }
  }
}

static void unlock(struct node *me) {
  struct node *next = atomic_load(&me->next);
  if (!next) {
    struct node *expected = me;
    if (atomic_compare_exchange_strong(&tail, &expected, NULL))
      return;
    while (!(next = atomic_load(&me->next))) {
    }
  }
  atomic_store(&next->gate, 0);
}

static void *queue(void *unused) {
  (void)unused;
  struct node me;
  lock(&me);
  shared++;
  unlock(&me);
  return NULL;
}

// Requests on the stacks of those who wait, with results that are not atomic.
struct request {
  int result;
  atomic_int done;
};

static _Atomic(struct request *) asked[2];

static void *requests(void *number) {
  int me = *(int *)number;
  if (me == 2) {
    for (int i = 0; i < 2; i++) {
      struct request *request;
      while (!(request = atomic_load(&asked[i]))) {
      }
      request->result = 7;
      atomic_store(&request->done, 1);
    }
    return NULL;
  }
  struct request request = {0, 0};
  atomic_store(&asked[me], &request);
  while (!atomic_load(&request.done)) {
  }
  return request.result == 7 ? NULL : number;
}

int main(int argc, char **argv) {
  static const struct program all[] = {{"queue", queue, 3}, {"requests", requests, 3}};
  return run_named(argc, argv, all, sizeof all / sizeof *all);
}
