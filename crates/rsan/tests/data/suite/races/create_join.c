// Creating and joining order everything before and after.
// expect: nothing
#include <pthread.h>
static int input, result;

static void *compute(void *unused) {
    result = input + 1;
    return unused;
}

int main(void) {
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        input = i;
        pthread_create(&thread, NULL, compute, NULL);
        pthread_join(thread, NULL);
        if (result != i + 1)
            return 1;
    }
    return 0;
}
