// Jumps back into a function that is still there leave the stack of a report right.
// expect: data-race
// says: #0 main
#include <pthread.h>
#include <setjmp.h>

static jmp_buf environment;
static int counter;

static void *add(void *argument) {
    counter++;
    return argument;
}

static void inner(int depth) {
    if (depth == 0) longjmp(environment, 1);
    inner(depth - 1);
}

int main(void) {
    pthread_t thread;
    for (volatile int i = 0; i < 100; i++) {
        if (setjmp(environment) == 0) inner(10);
    }
    pthread_create(&thread, 0, add, 0);
    counter++; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
