#include "pinned.h"

static int counter;

static void *add(void *unused) {
    wait_for_main();
    counter++;
    return unused;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, add, 0)) return 2;
    counter++;
    let_go();
    pthread_join(other, 0);
    return 0;
}
