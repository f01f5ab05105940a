// Condition variables and futexes, by the name of the argument.
#define _GNU_SOURCE
#include "cases.h"
#include <assert.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int place, waiting, done;

// A queue of one place.
static void *queue(void *number) {
  int consumes = *(int *)number;
  for (int i = 1; i <= 2; i++) {
    pthread_mutex_lock(&mutex);
    while (!place == consumes)
      pthread_cond_wait(consumes ? &filled : &emptied, &mutex);
    assert(!consumes || place == i);
    place = consumes ? 0 : i;
    pthread_cond_signal(consumes ? &emptied : &filled);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

// The first waits before the second does. If the signal is for the second, nobody wakes the first.
static void *choice(void *number) {
  int me = *(int *)number;
  pthread_mutex_lock(&mutex);
  if (me < 2 && waiting == me) {
    waiting++;
    while (!done)
      pthread_cond_wait(&filled, &mutex);
    if (me == 0)
      pthread_cond_signal(&filled);
  } else if (me == 2) {
    done = 1;
    pthread_cond_signal(&filled);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

// What is not waited for is not missed, and what time may end is not known.
static void *timed(void *number) {
  struct timespec soon = {.tv_sec = 1};
  pthread_mutex_lock(&mutex);
  if (*(int *)number)
    pthread_cond_signal(&filled);
  else
    pthread_cond_timedwait(&filled, &mutex, &soon);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

// A lock whose word is 0, 1, or 2 if somebody may wait.
static void *futex(void *unused) {
  static atomic_int word;
  int found = 0;
  (void)unused;
  if (!atomic_compare_exchange_strong(&word, &found, 1))
    while (atomic_exchange(&word, 2) != 0)
      syscall(SYS_futex, &word, FUTEX_WAIT, 2, NULL, NULL, 0);
  done++;
  if (atomic_exchange(&word, 0) == 2)
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
  return NULL;
}

int main(int argc, char **argv) {
  static const struct program all[] = {{"queue", queue, 2}, {"choice", choice, 3}, {"timed", timed, 2}, {"futex", futex, 2}};
  return run_named(argc, argv, all, sizeof all / sizeof *all);
}
