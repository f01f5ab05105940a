// findings: race
// A plain variable lies beside an atomic one that many threads change. Its write is still remembered when it is raced with.
#include "turn.h"

enum { VISITORS = 8 };

static struct {
    atomic_int count;
    int data;
} __attribute__((aligned(8))) pair;
static int own[VISITORS];
static int seen;

static void *writer(void *_) {
    wait_for_turn(0);
    pair.data = 1;
    end_of_turn();
    return 0;
}

// Each comes with another number of epochs.
static void *visitor(void *number) {
    int me = *(int *)number;
    wait_for_turn(1 + me);
    for (int i = 0; i < me; i++) {
        own[me] = i;
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    atomic_fetch_add_explicit(&pair.count, 1, memory_order_relaxed);
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(1 + VISITORS);
    seen = pair.data;
    return 0;
}

int main(void) {
    pthread_t threads[VISITORS + 2];
    int numbers[VISITORS];
    pthread_create(&threads[VISITORS], 0, writer, 0);
    pthread_create(&threads[VISITORS + 1], 0, reader, 0);
    for (int i = 0; i < VISITORS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], 0, visitor, &numbers[i]);
    }
    for (int i = 0; i < VISITORS + 2; i++) pthread_join(threads[i], 0);
    return seen == 1 ? 0 : 1;
}
