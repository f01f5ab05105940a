// Message passing without orders, twice by the same function.
#include "pinned.h"
#include <stdatomic.h>

struct channel {
    atomic_int data, ready;
};

static struct channel channels[2];

static int receive(struct channel *channel) {
    if (!atomic_load_explicit(&channel->ready, memory_order_relaxed)) return 0;
    return atomic_load_explicit(&channel->data, memory_order_relaxed);
}

static void *receiver(void *unused) {
    wait_for_main();
    receive(&channels[0]);
    receive(&channels[1]);
    return unused;
}

static void send(struct channel *channel) {
    atomic_store_explicit(&channel->data, 1, memory_order_relaxed);
    atomic_store_explicit(&channel->ready, 1, memory_order_relaxed);
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, receiver, 0)) return 2;
    send(&channels[0]);
    send(&channels[1]);
    let_go();
    pthread_join(other, 0);
    return 0;
}
