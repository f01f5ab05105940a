// Many readers, and a writer that none of them is ordered with.
// expect: data-race
#include <pthread.h>
enum { READERS = 4 };
int table;

static void *look(void *unused) {
    return table == 99 ? unused : NULL; // <- data-race
}

int main(void) {
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, look, NULL);
    table = 1; // <- data-race
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
