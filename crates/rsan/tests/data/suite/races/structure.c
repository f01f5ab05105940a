// Whole structures are copied by assignment.
// expect: data-race
#include <pthread.h>
struct point {
    long x, y, z;
};

struct point shared, other;

static void *put(void *unused) {
    struct point local = {1, 2, 3};
    shared = local; // <- data-race
    return unused;
}

static void *get(void *unused) {
    other = shared; // <- data-race
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, put, NULL);
    pthread_create(&second, NULL, get, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
