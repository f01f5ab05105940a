// A thread fails if another one has made many steps before it begins.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x, flag;

static void *works(void *unused) {
  for (int i = 0; i < 600; i++)
    atomic_store(&x, i);
  atomic_store(&flag, 1);
  return unused;
}

static void *looks(void *unused) {
  if (atomic_load(&flag))
    abort();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, works, NULL);
  pthread_create(&threads[1], NULL, looks, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
