// Two threads write neighbouring bytes of one word: no race.
// expect: nothing
#include <pthread.h>
static char bytes[8];

static void *fill(void *first) {
    for (int i = *(int *)first; i < 8; i += 2)
        bytes[i] = 1;
    return NULL;
}

static int even = 0, odd = 1;

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, fill, &even);
    pthread_create(&second, NULL, fill, &odd);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
