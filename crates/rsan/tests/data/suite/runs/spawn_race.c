// A race in a program that is started by posix_spawn.
// expect: data-race
#include <pthread.h>
#include <spawn.h>
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

extern char **environ;

int main(int argc, char **argv) {
    if (argc > 1) {
        race();
        return 0;
    }
    pid_t child;
    char *again[] = {argv[0], "again", 0};
    if (posix_spawn(&child, "/proc/self/exe", 0, 0, again, environ)) return 1;
    waitpid(child, 0, 0);
    return 0;
}
