// A descriptor is closed by the last of two threads, as a counter under a mutex says.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file, users = 2;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void leave(void) {
    pthread_mutex_lock(&mutex);
    int last = --users == 0;
    pthread_mutex_unlock(&mutex);
    if (last) close(file);
}

static void *work(void *unused) {
    if (write(file, "x", 1) != 1) return 0;
    leave();
    return unused;
}

int main(void) {
    pthread_t thread;
    file = open("/dev/null", O_WRONLY);
    pthread_create(&thread, 0, work, 0);
    if (write(file, "x", 1) != 1) return 1;
    leave();
    pthread_join(thread, 0);
    return 0;
}
