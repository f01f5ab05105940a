// A race in a forked child is found.
// expect: data-race
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int counter;

static void *add(void *unused) {
    counter++; // <- data-race
    return unused;
}

int main(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        pthread_t first, second;
        pthread_create(&first, NULL, add, NULL);
        pthread_create(&second, NULL, add, NULL);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return 0;
}
