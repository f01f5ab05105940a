// The program ends while threads run, by the name of the argument.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RELAXED = memory_order_relaxed };

static atomic_int x, y, stop, never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t thread;

static void *strong(void *unused) {
  atomic_store(&x, 1);
  atomic_load(&y);
  return unused;
}

static void *weak(void *unused) {
  atomic_store_explicit(&x, 1, RELAXED);
  atomic_load_explicit(&y, RELAXED);
  return unused;
}

static void *wait_in_a_loop(void *unused) {
  atomic_store(&x, 1);
  while (!atomic_load(&never)) {
  }
  return unused;
}

static void *wait_for_a_signal(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
  return unused;
}

static void *end(void *status) {
  if (atomic_load(&x))
    exit(*(int *)status);
  return NULL;
}

static void *wait_for_the_end(void *unused) {
  while (!atomic_load(&stop)) {
  }
  atomic_store(&x, 1);
  return unused;
}

static void handler(void) {
  atomic_store(&stop, 1);
  atomic_load(&x);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  static int statuses[] = {0, 5};
  const char *name = argc == 2 ? argv[1] : "";
  if (strcmp(name, "strong") == 0) {
    pthread_create(&thread, NULL, strong, NULL);
    atomic_store(&y, 1);
    atomic_load(&x);
  } else if (strcmp(name, "weak") == 0) {
    pthread_create(&thread, NULL, weak, NULL);
    atomic_store_explicit(&y, 1, RELAXED);
    atomic_load_explicit(&x, RELAXED);
  } else if (strcmp(name, "waiting") == 0 || strcmp(name, "failing") == 0) {
    pthread_create(&thread, NULL, wait_in_a_loop, NULL);
    pthread_create(&thread, NULL, wait_for_a_signal, NULL);
    pthread_create(&thread, NULL, end, &statuses[name[0] == 'f']);
  } else if (strcmp(name, "handler") == 0) {
    atexit(handler);
    pthread_create(&thread, NULL, wait_for_the_end, NULL);
  }
  return 0;
}
