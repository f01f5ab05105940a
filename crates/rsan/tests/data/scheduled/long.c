/* Programs with more executions than anybody can wait for. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int flags[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

/* Wants to enter, and steps back, a thousand times. */
static void *contend(void *number) {
    long own = (long)number;
    for (int i = 0; i < 1000; i++) {
        atomic_store(&flags[own], 1);
        if (!atomic_load(&flags[1 - own])) atomic_thread_fence(memory_order_seq_cst);
        atomic_store(&flags[own], 0);
    }
    return 0;
}

/* Looks again and again whether the other thread is ready. */
static void *poll(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        int seen = ready;
        pthread_mutex_unlock(&lock);
        if (seen) return unused;
    }
}

static void *announce(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Counts until it is told to stop. */
static void *count(void *unused) {
    while (!atomic_load(&flags[0])) atomic_fetch_add(&flags[1], 1);
    return unused;
}

static void *stop(void *unused) {
    atomic_store(&flags[0], 1);
    return unused;
}

static void both(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, (void *)0);
    pthread_create(&threads[1], 0, other, (void *)1);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}

int main(int arguments, char **words) {
    const char *what = arguments > 1 ? words[1] : "";
    puts("a run");
    fflush(stdout);
    if (!strcmp(what, "contend")) both(contend, contend);
    if (!strcmp(what, "poll")) both(poll, announce);
    if (!strcmp(what, "count")) both(count, stop);
    return 0;
}
