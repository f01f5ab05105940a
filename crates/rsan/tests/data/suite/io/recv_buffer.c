// A buffer is filled by recv, and read by another thread.
// expect: data-race
// says: #0 recv
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static char buffer[8];
static volatile int sum;

static void *work(void *unused) {
    if (recv(ends[0], buffer, 8, 0) != 4) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || send(ends[1], "abcd", 4, 0) != 4) return 1;
    pthread_create(&thread, 0, work, 0);
    sum = buffer[1]; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
