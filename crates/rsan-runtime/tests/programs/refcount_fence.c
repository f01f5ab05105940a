// findings: none
// tsan: race
// The last owner has an acquire fence before it frees.
#include "turn.h"

static struct { atomic_int count; int data; } *object;

static void drop(void) {
    if (atomic_fetch_sub_explicit(&object->count, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        free(object);
    }
}

static void *first(void *_) {
    wait_for_turn(0);
    object->data = 1;
    drop();
    end_of_turn();
    return 0;
}

static void *last(void *_) {
    wait_for_turn(1);
    drop();
    return 0;
}

int main(void) {
    object = malloc(sizeof *object);
    atomic_init(&object->count, 2);
    RUN(first, last);
    return 0;
}
