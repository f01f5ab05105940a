// A program that executes itself keeps its findings from before.
// expect: data-race
#include <pthread.h>
#include <unistd.h>
static int counter;

static void *add(void *unused) {
    counter++; // <- data-race
    return unused;
}

int main(int count, char **arguments) {
    pthread_t first, second;
    if (count > 1)
        return 0;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    execl(arguments[0], arguments[0], "again", (char *)NULL);
    return 1;
}
