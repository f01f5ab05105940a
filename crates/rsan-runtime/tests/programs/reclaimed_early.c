// findings: race
// A list is read while its node is marked, unlinked and freed by another thread: the read before the marking is a race
// with the free, though a write of the other thread came in between.
#include "turn.h"

struct node {
    _Atomic(struct node *) next;
};

static struct node *node, *seen;
static struct node mark;

static void *traverser(void *_) {
    wait_for_turn(0);
    seen = LOAD(node->next, acquire);
    end_of_turn();
    return 0;
}

static void *remover(void *_) {
    wait_for_turn(1);
    STORE(node->next, &mark, release);
    free(node);
    return 0;
}

int main(void) {
    node = malloc(sizeof *node);
    STORE(node->next, &mark, relaxed);
    RUN(traverser, remover);
    return seen == &mark ? 0 : 1;
}
