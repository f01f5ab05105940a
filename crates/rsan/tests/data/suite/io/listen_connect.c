// What is done before listening comes before having connected.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int data, seen;

static void *client(void *unused) {
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    while (connect(file, (struct sockaddr *)&address, sizeof address) != 0) sched_yield();
    seen = data;
    return unused;
}

int main(void) {
    pthread_t thread;
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, 64, "rsan-%d", (int)getpid());
    pthread_create(&thread, 0, client, 0);
    data = 1;
    if (bind(file, (struct sockaddr *)&address, sizeof address) != 0 || listen(file, 1) != 0) return 1;
    pthread_join(thread, 0);
    return seen - 1;
}
