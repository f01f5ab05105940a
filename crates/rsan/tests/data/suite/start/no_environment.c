// A program that executes itself without an environment is looked at all the same.
// expect: data-race
#include <pthread.h>
#include <unistd.h>

static int counter;

static void *add(void *argument) {
    counter++; // <- data-race
    return argument;
}

int main(int count, char **arguments) {
    char *again[] = {arguments[0], "again", 0}, *none[] = {0};
    if (count == 1) {
        execve("/proc/self/exe", again, none);
        return 1;
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
