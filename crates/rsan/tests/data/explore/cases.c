/* What goes wrong with weak memory, and what goes wrong without it; the argument says which. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define load(at) atomic_load_explicit(at, memory_order_relaxed)
#define store(at, value) atomic_store_explicit(at, value, memory_order_relaxed)

typedef void *function(void *);

static void both(function *first, function *second) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}

static atomic_int data, ready, noise;

/* A message without its data. */
static void *writes_message(void *unused) {
    store(&data, 42);
    store(&ready, 1);
    return unused;
}

static void *reads_message(void *unused) {
    if (load(&ready) == 1)
        assert(load(&data) == 42);
    return unused;
}

/* The same among accesses that do not matter. */
static void *writes_noise(void *unused) {
    for (int i = 1; i < 6; i++)
        store(&noise, i);
    return writes_message(unused);
}

static void *reads_noise(void *unused) {
    int sum = 0;
    for (int i = 0; i < 6; i++)
        sum += load(&noise);
    return sum < 0 ? unused : reads_message(unused);
}

/* A pointer that is not there yet. */
static _Atomic(int *) pointer;
static int target = 1;

static void *publishes(void *unused) {
    store(&pointer, &target);
    store(&ready, 1);
    return unused;
}

static void *follows(void *unused) {
    if (load(&ready) == 1)
        store(&data, *load(&pointer));
    return unused;
}

/* Both miss the other's store. */
static atomic_int flags[2], seen[2];

static void raise(int me) {
    store(&flags[me], 1);
    store(&seen[me], load(&flags[1 - me]));
}

static void *raises_first(void *unused) {
    raise(0);
    return unused;
}

static void *raises_second(void *unused) {
    raise(1);
    return unused;
}

/* In no interleaving. */
static int nobody_saw(void) {
    return load(&seen[0]) == 0 && load(&seen[1]) == 0;
}

/* An update that is lost in some interleavings. */
static void *adds(void *unused) {
    store(&data, load(&data) + 1);
    return unused;
}

int main(int count, char **words) {
    const char *which = count > 1 ? words[1] : "";
    if (!strcmp(which, "message"))
        both(writes_message, reads_message);
    else if (!strcmp(which, "noise"))
        both(writes_noise, reads_noise);
    else if (!strcmp(which, "pointer"))
        both(publishes, follows);
    else if (!strcmp(which, "adds")) {
        both(adds, adds);
        return load(&data) == 2 ? 0 : 4;
    } else if (!strcmp(which, "fails"))
        return 5;
    else {
        both(raises_first, raises_second);
        if (nobody_saw() && !strcmp(which, "endless"))
            while (load(&data) >= 0)
                store(&data, (load(&data) + 1) & 0xff);
        return nobody_saw() ? 3 : 0;
    }
    return 0;
}
