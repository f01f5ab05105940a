#include <pthread.h>

static int counter;

static void *add(void *unused) {
    (void)unused;
    counter++;
    return 0;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, 0, add, 0)) return 2;
    counter++;
    pthread_join(other, 0);
    return 0;
}
