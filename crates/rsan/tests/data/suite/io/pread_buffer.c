// A buffer is filled by pread, and accessed by another thread.
// expect: data-race
// says: #0 pread
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;
static char buffer[8];

static void *work(void *unused) {
    if (pread(file, buffer, 4, 0) != 4) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if ((file = open("/proc/self/exe", O_RDONLY)) < 0) return 1;
    pthread_create(&thread, 0, work, 0);
    buffer[3] = 1; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
