// The creator reads a result before it joins.
// expect: data-race
#include <pthread.h>
int result;

static void *compute(void *unused) {
    result = 42; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    int early = result; // <- data-race
    pthread_join(thread, NULL);
    return early == 7;
}
