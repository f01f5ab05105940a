// A compare-and-swap that may succeed on an old value, which a plain write left.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, flag;

static void *first(void *unused) {
  atomic_store_explicit(&data, 1, memory_order_relaxed);
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return unused;
}

static void *second(void *unused) {
  int expected = 7;
  if (atomic_load_explicit(&flag, memory_order_relaxed))
    atomic_compare_exchange_strong_explicit(&data, &expected, 9, memory_order_relaxed, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  atomic_store(&data, 5);
  *(int *)&data = 7;
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
