// A race that the program says is benign, and one beside it.
// expect: data-race
#include <pthread.h>

void AnnotateBenignRaceSized(const char *, int, const volatile void *, unsigned long, const char *);

static int counter, other;

static void *second(void *unused) {
    (void)unused;
    counter++;
    other++; // <- data-race
    return 0;
}

int main(void) {
    pthread_t thread;
    AnnotateBenignRaceSized(__FILE__, __LINE__, &counter, sizeof counter, "a statistic");
    pthread_create(&thread, 0, second, 0);
    counter++;
    other++;
    pthread_join(thread, 0);
    return 0;
}
