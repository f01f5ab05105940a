// Threads have the names that the program gives them.
// expect: data-race
// says: by thread 1 (reader)
// says: thread 2 (writer) was created
// flags: -D_GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>

static int data;

static void *writer(void *arg) {
    prctl(PR_SET_NAME, "writer");
    data = 1; // <- data-race
    return arg;
}

static void *reader(void *arg) {
    pthread_setname_np(pthread_self(), "reader");
    return (char *)arg + data; // <- data-race
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, writer, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
