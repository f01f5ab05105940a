// Independent reads of independent writes. With release and acquire the readers may disagree about the order.
#include "peers.h"

#ifndef WRITE
#define WRITE RELEASE
#define READ ACQUIRE
#endif

static atomic_int place[2];
static int first[2], second[2];

static void *writer(void *number) {
    int me = *(int *)number;
    atomic_store_explicit(&place[me], 1, WRITE);
    return NULL;
}

static void *reader(void *number) {
    int me = *(int *)number - 2;
    first[me] = atomic_load_explicit(&place[me], READ);
    second[me] = atomic_load_explicit(&place[1 - me], READ);
    return NULL;
}

int main(void) {
    run(4, (void *(*const[])(void *)){writer, writer, reader, reader});
    assert(WRITE != SEQ_CST || !(first[0] && !second[0] && first[1] && !second[1]));
    return 0;
}
