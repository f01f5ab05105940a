// What a process wrote before a fork is there for the threads of its child.
// expect: nothing
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int value;

static void *read_value(void *unused) {
    return value == 1 ? unused : &value;
}

int main(void) {
    value = 1;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, 0, read_value, 0);
        pthread_join(thread, &result);
        return result == 0 ? 0 : 1;
    }
    value = 2;
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}
