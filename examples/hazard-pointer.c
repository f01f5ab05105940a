// A reader announces what it reads in a hazard pointer, then looks whether it is still current. Nothing keeps the
// store before the load, so the writer may not see the announcement and free the node under the reader.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
};

static _Atomic(struct node *) current;
static _Atomic(struct node *) hazard;

static struct node *new_node(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    return node;
}

static void *read_current(void *arg) {
    struct node *node = atomic_load_explicit(&current, memory_order_acquire);
    atomic_store_explicit(&hazard, node, memory_order_release);
#ifdef FIXED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (atomic_load_explicit(&current, memory_order_acquire) == node)
        *(int *)arg = node->value;
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return NULL;
}

static void *replace_current(void *arg) {
    struct node *old = arg;
    atomic_store_explicit(&current, new_node(2), memory_order_release);
#ifdef FIXED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (atomic_load_explicit(&hazard, memory_order_acquire) != old)
        free(old);
    return NULL;
}

int main(void) {
    int seen = 0;
    struct node *old = new_node(1);
    atomic_init(&current, old);
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_current, &seen);
    pthread_create(&writer, NULL, replace_current, old);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    printf("saw %d\n", seen);
    return 0;
}
