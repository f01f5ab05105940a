// An address is read from a text, and read by another thread.
// expect: data-race
// says: #0 inet_pton
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>

static struct in_addr address;
static volatile unsigned copy;

static void *work(void *unused) {
    inet_pton(AF_INET, "127.0.0.1", &address); // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    copy = address.s_addr; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
