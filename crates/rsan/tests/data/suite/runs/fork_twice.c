// Two children join their threads first.
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
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            work();
            _exit(0);
        }
        waitpid(child, 0, 0);
    }
    return 0;
}
