/* Says whether the system takes it for privileged, after a race. */
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>

static int counter;

static void *add(void *argument) {
    counter++;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    puts(getauxval(AT_SECURE) ? "privileged" : "ordinary");
    return 0;
}
