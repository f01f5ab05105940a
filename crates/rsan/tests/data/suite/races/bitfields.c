// Neighbouring bit-fields are one memory location.
// expect: data-race
#include <pthread.h>
struct {
    unsigned a : 4;
    unsigned b : 4;
} flags;

static void *set_a(void *unused) {
    flags.a = 1; // <- data-race
    return unused;
}

static void *set_b(void *unused) {
    flags.b = 2; // <- data-race
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, set_a, NULL);
    pthread_create(&second, NULL, set_b, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
