// findings: race
// The main thread ends; the others go on, and what they find is not lost.
#include "turn.h"

int shared;
static pthread_t main_thread;

static void *first(void *_) {
    pthread_join(main_thread, 0);
    shared = 1;
    end_of_turn();
    return 0;
}

static void *second(void *_) {
    wait_for_turn(1);
    shared = 2;
    return 0;
}

int main(void) {
    pthread_t one, two;
    main_thread = pthread_self();
    if (pthread_create(&one, 0, first, 0) || pthread_create(&two, 0, second, 0)) abort();
    pthread_detach(one);
    pthread_exit(0);
}
