// Two children have the same race, which is one finding.
// expect: data-race
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

int main(void) {
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            race();
            _exit(0);
        }
        waitpid(child, 0, 0);
    }
    return 0;
}
