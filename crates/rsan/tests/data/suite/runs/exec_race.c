// A program that executes itself has a race then.
// expect: data-race
#include <pthread.h>
#include <unistd.h>

int value;

static void *write_value(void *unused) {
    value = 1; // <- data-race
    return unused;
}

static void race(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_value, 0);
    value = 2; // <- data-race
    pthread_join(thread, 0);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        char *again[] = {argv[0], "again", 0};
        execv("/proc/self/exe", again);
        return 1;
    }
    race();
    return 0;
}
