// Five threads that add to one counter: 120 executions, and nothing to find.
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 5 };

static atomic_int counter;

static void *add(void *unused) {
  atomic_fetch_add(&counter, 1);
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
}
