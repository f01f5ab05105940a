// What is done before connecting comes before accepting the connection, over TCP.
// expect: nothing
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static int data;

static void *client(void *unused) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    data = 1;
    if (connect(file, (struct sockaddr *)&address, sizeof address) != 0) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    socklen_t size = sizeof address;
    int file = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(file, (struct sockaddr *)&address, size) != 0 || listen(file, 1) != 0) return 1;
    if (getsockname(file, (struct sockaddr *)&address, &size) != 0) return 1;
    pthread_create(&thread, 0, client, 0);
    if (accept4(file, 0, 0, SOCK_CLOEXEC) < 0) return 1;
    volatile int seen = data;
    (void)seen;
    pthread_join(thread, 0);
    return 0;
}
