// The same without the race.
// expect: nothing
#include <pthread.h>
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

int main(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            work();
        }
        _exit(0);
    }
    wait(0);
    return 0;
}
