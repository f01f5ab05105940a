// The program itself says which race is known, by the name of a variable.
// expect: data-race
// says: `other`
#include <pthread.h>

const char *__tsan_default_suppressions(void) {
    return "# known\nrace:^counter$\n";
}

static int counter, other;

static void *second(void *unused) {
    (void)unused;
    counter++;
    other++; // <- data-race
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    counter++;
    other++;
    pthread_join(thread, 0);
    return 0;
}
