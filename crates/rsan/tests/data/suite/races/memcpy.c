// memcpy reads what another thread writes; the report names both.
// expect: data-race
#include <pthread.h>
#include <string.h>
char from[64], to[64];

static void *copy(void *unused) {
    memcpy(to, from, sizeof to); // <- data-race
    return unused;
}

static void *change(void *unused) {
    from[40] = 1; // <- data-race
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, copy, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
