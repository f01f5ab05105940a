// Sending messages by sendmmsg comes before receiving them by recvmmsg.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

static char bytes[2][4];
static struct iovec parts[2] = {{bytes[0], 4}, {bytes[1], 4}};
static int ends[2], data;

static void *work(void *unused) {
    data = 1;
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}};
    if (sendmmsg(ends[0], &message, 1, 0) != 1) abort();
    return unused;
}

int main(void) {
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
    pthread_create(&thread, 0, work, 0);
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}};
    if (recvmmsg(ends[1], &message, 1, 0, 0) != 1 || message.msg_len != 4) return 1;
    int seen = data;
    pthread_join(thread, 0);
    return seen - 1;
}
