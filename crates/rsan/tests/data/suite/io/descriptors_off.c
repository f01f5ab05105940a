// With the option for them switched off, descriptors are not looked at.
// expect: nothing
// options: descriptors=0
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;

static void *work(void *unused) {
    close(file);
    return unused;
}

int main(void) {
    pthread_t thread;
    file = open("/dev/null", O_RDONLY);
    pthread_create(&thread, 0, work, 0);
    close(file);
    pthread_join(thread, 0);
    return 0;
}
