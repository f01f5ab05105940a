// A message is received in parts, and the second part is accessed by another thread.
// expect: data-race
// says: #0 recvmsg
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static char one[2], two[8];
static struct iovec parts[2] = {{one, 2}, {two, 8}};
static struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

static void *work(void *unused) {
    if (recvmsg(ends[0], &message, 0) != 4) return 0; // <- data-race
    return unused;
}

int main(void) {
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || send(ends[1], "abcd", 4, 0) != 4) return 1;
    pthread_create(&thread, 0, work, 0);
    two[0] = 1; // <- data-race
    pthread_join(thread, 0);
    return 0;
}
