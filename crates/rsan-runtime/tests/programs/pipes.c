// findings: none
// What is written to a pipe, a socket or an event counter comes before reading it; registering before waiting.
#define _GNU_SOURCE
#include "turn.h"
#include <arpa/inet.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int to_end[2], pair[2], event, poll_set, connected[2];
static int by_pipe, by_pair, by_event, by_close, by_tcp;
static struct item { int value; } *item;

static void *writer(void *_) {
    char byte = 1;
    by_pipe = 1;
    if (write(to_end[1], &byte, 1) != 1) abort();
    by_pair = 1;
    struct iovec part = {&byte, 1};
    if (writev(pair[1], &part, 1) != 1) abort();
    by_tcp = 1;
    if (send(connected[1], &byte, 1, 0) != 1) abort();
    item = malloc(sizeof *item);
    item->value = 5;
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = item};
    if (epoll_ctl(poll_set, EPOLL_CTL_ADD, event, &wanted)) abort();
    by_event = 1;
    if (eventfd_write(event, 1)) abort();
    by_close = 1;
    close(to_end[1]);
    return 0;
}

static void *reader(void *_) {
    char byte;
    eventfd_t count;
    struct epoll_event found;
    if (read(to_end[0], &byte, 1) != 1 || !by_pipe) abort();
    if (recv(pair[0], &byte, 1, 0) != 1 || !by_pair) abort();
    if (recv(connected[0], &byte, 1, 0) != 1 || !by_tcp) abort();
    if (epoll_wait(poll_set, &found, 1, -1) != 1 || ((struct item *)found.data.ptr)->value != 5) abort();
    if (read(event, &count, sizeof count) != sizeof count || !by_event) abort();
    if (read(to_end[0], &byte, 1) != 0 || !by_close) abort();
    free(found.data.ptr);
    return 0;
}

int main(void) {
    if (pipe(to_end) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
    event = eventfd(0, 0);
    poll_set = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    connected[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1)) abort();
    if (getsockname(listener, (struct sockaddr *)&address, &size)) abort();
    if (connect(connected[0], (struct sockaddr *)&address, size)) abort();
    connected[1] = accept(listener, 0, 0);
    RUN(writer, reader);
    return 0;
}
