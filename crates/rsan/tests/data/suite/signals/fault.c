// A handler of a fault allocates memory, and goes on elsewhere.
// expect: nothing
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static sigjmp_buf before;

static void handler(int number) {
    (void)number;
    void *volatile block = malloc(10);
    free(block);
    siglongjmp(before, 1);
}

int main(void) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGSEGV, &action, 0);
    if (sigsetjmp(before, 1) == 0) {
        *(volatile int *)16 = 1;
    }
    return 0;
}
