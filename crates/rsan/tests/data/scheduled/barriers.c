// Barriers. A case is named by the first argument.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 3 };

static pthread_barrier_t barrier;
static atomic_int x, y, chosen;
static int plain;

// Nobody looks at who is told that it is the one.
static void *meet(void *unused) {
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return unused;
}

// Everybody does.
static void *choose(void *unused) {
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
    atomic_store(&chosen, 1);
  return unused;
}

// What comes before a barrier is ordered before what comes after it.
static void *write_before(void *unused) {
  plain = 1;
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  pthread_barrier_wait(&barrier);
  assert(atomic_load_explicit(&y, memory_order_relaxed) == 1);
  return unused;
}
static void *read_after(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  pthread_barrier_wait(&barrier);
  assert(atomic_load_explicit(&x, memory_order_relaxed) == plain);
  return unused;
}

// The barrier does not order what is behind it: store buffering.
static void *store_x(void *unused) {
  pthread_barrier_wait(&barrier);
  atomic_store_explicit(&x, 1, memory_order_release);
  atomic_load_explicit(&y, memory_order_acquire);
  return unused;
}
static void *store_y(void *unused) {
  pthread_barrier_wait(&barrier);
  atomic_store_explicit(&y, 1, memory_order_release);
  atomic_load_explicit(&x, memory_order_acquire);
  return unused;
}

// More threads than the barrier is for: one of them waits for ever.
static void *come(void *unused) {
  pthread_barrier_wait(&barrier);
  return unused;
}

static void run(unsigned meet, int count, void *(*bodies[])(void *)) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, meet);
  for (int i = 0; i < count; i++)
    pthread_create(&threads[i], 0, bodies[i], 0);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], 0);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "meet"))
    run(3, 3, (void *(*[])(void *)){meet, meet, meet});
  else if (!strcmp(name, "choose"))
    run(3, 3, (void *(*[])(void *)){choose, choose, choose});
  else if (!strcmp(name, "orders"))
    run(2, 2, (void *(*[])(void *)){write_before, read_after});
  else if (!strcmp(name, "behind"))
    run(2, 2, (void *(*[])(void *)){store_x, store_y});
  else
    run(2, 3, (void *(*[])(void *)){come, come, come});
}
