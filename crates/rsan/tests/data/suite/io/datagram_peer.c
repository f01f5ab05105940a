// A datagram of a socket that knows its peer comes to one that does not.
// expect: nothing
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static int data;

static void *client(void *unused) {
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address) != 0) abort();
    data = 1;
    if (send(file, "x", 1, 0) != 1) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    socklen_t size = sizeof address;
    char byte;
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(file, (struct sockaddr *)&address, size) != 0) return 1;
    if (getsockname(file, (struct sockaddr *)&address, &size) != 0) return 1;
    pthread_create(&thread, 0, client, 0);
    if (recv(file, &byte, 1, 0) != 1) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen - 1;
}
