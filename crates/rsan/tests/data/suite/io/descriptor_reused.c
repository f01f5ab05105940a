// The number of a descriptor has several lives, in two threads.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int files[8];

static void *work(void *unused) {
    for (int round = 0; round < 100; round++) {
        int file = open("/dev/null", O_WRONLY);
        if (write(file, "x", 1) != 1) abort();
        close(file);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 8; i++) files[i] = i % 2 ? dup(2) : open("/dev/null", O_WRONLY);
        for (int i = 0; i < 8; i++) fsync(files[i]);
        for (int i = 0; i < 8; i++) close(files[i]);
    }
    pthread_join(thread, 0);
    return 0;
}
