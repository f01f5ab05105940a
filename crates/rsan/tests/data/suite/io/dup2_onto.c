// A descriptor is replaced by dup2 while another thread writes to it: it goes to the one file or to the other.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;

static void *work(void *unused) {
    if (write(file, "x", 1) < 0) return 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    file = open("/dev/null", O_WRONLY);
    int other = open("/dev/null", O_WRONLY);
    pthread_create(&thread, 0, work, 0);
    dup2(other, file);
    pthread_join(thread, 0);
    return 0;
}
