// A finding of one of several processes names it.
// expect: data-race
// says: in process
// says: a second word
#include <pthread.h>
#include <sys/wait.h>
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
    if (argc > 1) {
        race();
        return 0;
    }
    if (fork() == 0) {
        char *again[] = {argv[0], "a second word", 0};
        execv("/proc/self/exe", again);
        _exit(1);
    }
    wait(0);
    return 0;
}
