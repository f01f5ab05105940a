// A number is closed by one thread, and given by libc to another for a stream of its own.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int file;

static void *work(void *unused) {
    close(file);
    return unused;
}

int main(void) {
    pthread_t thread;
    FILE *streams[8];
    file = open("/dev/null", O_RDONLY);
    pthread_create(&thread, 0, work, 0);
    for (int i = 0; i < 8; i++) {
        streams[i] = popen("exit 0", "r");
        if (streams[i] && fcntl(fileno(streams[i]), F_GETFD) < 0) return 1;
    }
    pthread_join(thread, 0);
    for (int i = 0; i < 8; i++) pclose(streams[i]);
    return 0;
}
