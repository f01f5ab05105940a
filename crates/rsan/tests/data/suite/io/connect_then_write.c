// What is done after connecting is not ordered with what comes after accepting the connection.
// expect: data-race
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static int data;

static void *client(void *unused) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address) != 0) abort();
    data = 1; // <- data-race
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
    if (accept(file, 0, 0) < 0) return 1;
    volatile int seen = data; // <- data-race
    (void)seen;
    pthread_join(thread, 0);
    return 0;
}
