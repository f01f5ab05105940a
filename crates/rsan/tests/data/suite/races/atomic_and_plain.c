// One thread accesses a word atomically, another one does not.
// expect: data-race
#include <pthread.h>
static int word;

static void *atomically(void *unused) {
    __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST); // <- data-race
    return unused;
}

static void *plainly(void *unused) {
    word++; // <- data-race
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, atomically, NULL);
    pthread_create(&second, NULL, plainly, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
