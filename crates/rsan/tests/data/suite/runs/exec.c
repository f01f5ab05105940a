// A program that executes itself joins its thread first.
// expect: nothing
#include <pthread.h>
#include <unistd.h>

int value;

static void *write_value(void *unused) {
    value = 1;
    return unused;
}

static void work(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_value, 0);
    pthread_join(thread, 0);
    value = 2;
}

int main(int argc, char **argv) {
    if (argc == 1) {
        char *again[] = {argv[0], "again", 0};
        execv("/proc/self/exe", again);
        return 1;
    }
    work();
    return 0;
}
