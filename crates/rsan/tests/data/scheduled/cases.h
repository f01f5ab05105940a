// Several small programs in one, told apart by the name of the argument.
#include <pthread.h>
#include <string.h>

struct program {
  const char *name;
  void *(*body)(void *);
  int threads;
};

static int numbers[3] = {0, 1, 2};

static int run_named(int argc, char **argv, const struct program *all, int count) {
  for (int i = 0; argc == 2 && i < count; i++) {
    if (strcmp(all[i].name, argv[1]) != 0)
      continue;
    pthread_t threads[3];
    for (int t = 0; t < all[i].threads; t++)
      pthread_create(&threads[t], NULL, all[i].body, &numbers[t]);
    for (int t = 0; t < all[i].threads; t++)
      pthread_join(threads[t], NULL);
    return 0;
  }
  return 2;
}
