// The same without the race.
// expect: nothing
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
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

extern char **environ;

int main(int argc, char **argv) {
    if (argc > 1) {
        work();
        return 0;
    }
    pid_t child;
    char *again[] = {argv[0], "again", 0};
    if (posix_spawn(&child, "/proc/self/exe", 0, 0, again, environ)) return 1;
    waitpid(child, 0, 0);
    return 0;
}
