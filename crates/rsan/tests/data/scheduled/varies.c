// Does something else in every run but the first, which a file tells.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int x;
static long runs;

static void *changes(void *unused) {
  if (runs > 0)
    atomic_load(&x);
  else
    atomic_store(&x, 1);
  return unused;
}

int main(void) {
  pthread_t thread;
  int file = open("runs", O_WRONLY | O_CREAT | O_APPEND, 0600);
  runs = lseek(file, 0, SEEK_END);
  if (write(file, ".", 1) != 1)
    return 2;
  close(file);
  pthread_create(&thread, NULL, changes, NULL);
  atomic_load(&x);
  pthread_join(thread, NULL);
  return 0;
}
