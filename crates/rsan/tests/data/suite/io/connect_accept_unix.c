// What is done before connecting comes before accepting the connection, at a Unix socket.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int data;

static void *client(void *unused) {
    data = 1;
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address) != 0) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    /* A name that is in no file system. */
    snprintf(address.sun_path + 1, 64, "rsan-%d", (int)getpid());
    if (bind(file, (struct sockaddr *)&address, sizeof address) != 0 || listen(file, 1) != 0) return 1;
    pthread_create(&thread, 0, client, 0);
    if (accept(file, 0, 0) < 0) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen - 1;
}
