// Accesses that optimising compilers remove, merge or move. Each races with the writer of its word, and with nothing else;
// a case is chosen by the first argument.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int word, other;
static struct { int first, second; } pair;
static atomic_int ready;

static void use(int *place) { *place = 1; }

static void *writer(void *which) {
    switch (*(int *)which) {
    case 5: pair.second = 1; break;
    default: use(&word);
    }
    return 0;
}

static void *other_thread(void *which) {
    int value = 0, copy;
    switch (*(int *)which) {
    case 0: copy = word; (void)copy; break;                         // a read that nobody needs
    case 1: other = word; value = atomic_load(&ready); break;       // a read that could be moved behind the load
    case 2: word = 2; word = 3; break;                              // a write that is overwritten
    case 3: value = word; word = value; break;                      // a write of what was read
    case 4: for (int i = 0; i < 2; i++) value += word; break;       // a read that a loop repeats
    case 5: { __typeof__(pair) all = pair; value = all.first; break; } // a copy of which a part is needed
    case 6: if (word) value = 0; break;                             // a branch that makes no difference
    }
    return (void *)(long)(value & 0);
}

int main(int count, char **arguments) {
    int which = count > 1 ? atoi(arguments[1]) : 0;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, &which);
    pthread_create(&threads[1], 0, other_thread, &which);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
