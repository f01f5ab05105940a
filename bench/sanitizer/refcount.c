// Shared objects with reference counts: relaxed increments, release decrements, a fence before the last one frees.
// Arguments: threads, objects.
#include "bench.h"

enum { WORDS = 6 };

struct object {
    atomic_int count;
    unsigned long words[WORDS];
};

static atomic_ulong freed;
static struct object **objects;
static long count;

static void give_up(struct object *object) {
    if (atomic_fetch_sub_explicit(&object->count, 1, RELEASE) == 1) {
        atomic_thread_fence(ACQUIRE);
        for (int i = 0; i < WORDS; i++) {
            object->words[i] = 0;
        }
        free(object);
        atomic_fetch_add_explicit(&freed, 1, RELAXED);
    }
}

static void body(int thread) {
    for (long i = 0; i < count; i++) {
        struct object *object = objects[i];
        unsigned long sum = 0;
        for (int w = 0; w < WORDS; w++) {
            atomic_fetch_add_explicit(&object->count, 1, RELAXED);
            sum += object->words[w];
            give_up(object);
        }
        check(sum == (unsigned long)i * WORDS, "an object");
        give_up(object);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    count = argument(argc, argv, 2, 1, 100000000);
    objects = malloc(count * sizeof *objects);
    check(objects != 0, "memory");
    for (long i = 0; i < count; i++) {
        objects[i] = malloc(sizeof **objects);
        check(objects[i] != 0, "memory");
        atomic_init(&objects[i]->count, threads);
        for (int w = 0; w < WORDS; w++) {
            objects[i]->words[w] = i;
        }
    }
    run_threads(threads, body);
    free(objects);
    check(atomic_load(&freed) == (unsigned long)count, "freed");
    return result(count);
}
