// findings: none
// C11's own threads, mutexes, conditions and once: each orders what it is there to order.
#include "turn.h"
#include <threads.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 100 };
static mtx_t mutex, timed;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static int by_mutex, by_timed, by_once, arrived;

static void set_up(void) { by_once = 7; }

static int work(void *argument) {
    int *own = argument;
    call_once(&flag, set_up);
    *own += by_once;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2) {
            mtx_lock(&mutex);
        } else {
            while (mtx_trylock(&mutex) != thrd_success) thrd_yield();
        }
        by_mutex++;
        mtx_unlock(&mutex);
        struct timespec late = {.tv_sec = time(0) + 1000};
        if (mtx_timedlock(&timed, &late) != thrd_success) abort();
        by_timed++;
        mtx_unlock(&timed);
    }
    mtx_lock(&mutex);
    arrived++;
    cnd_broadcast(&changed);
    while (arrived < THREADS) cnd_wait(&changed, &mutex);
    struct timespec now = {0};
    if (cnd_timedwait(&changed, &mutex, &now) != thrd_timedout) abort();
    by_mutex++;
    mtx_unlock(&mutex);
    if (*own == 7) thrd_exit(7);
    return *own;
}

int main(void) {
    thrd_t threads[THREADS];
    int own[THREADS] = {0, 1, 0, 3}, sum = 0;
    mtx_init(&mutex, mtx_plain);
    mtx_init(&timed, mtx_timed | mtx_recursive);
    cnd_init(&changed);
    for (int i = 0; i < THREADS; i++)
        if (thrd_create(&threads[i], work, &own[i]) != thrd_success) abort();
    for (int i = 0; i < THREADS; i++) {
        int result;
        if (thrd_join(threads[i], &result) != thrd_success || result != own[i]) abort();
        sum += own[i];
    }
    mtx_destroy(&mutex);
    return sum == 32 && by_mutex == THREADS * (ROUNDS + 1) && by_timed == THREADS * ROUNDS ? 0 : 1;
}
