// findings: none
// A duplicate of an event counter or a poll stands for the same one, whichever way it was made.
#define _GNU_SOURCE
#include "turn.h"
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event, event_again, counted, poll_set, registry;
static int by_event, by_second;
static struct item { int value; } *item;

static void *writer(void *_) {
    item = malloc(sizeof *item);
    item->value = 5;
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = item};
    if (epoll_ctl(registry, EPOLL_CTL_ADD, event, &wanted)) abort();
    by_event = 1;
    if (eventfd_write(event_again, 1)) abort();
    by_second = 1;
    if (eventfd_write(counted, 1)) abort();
    return 0;
}

static void *reader(void *_) {
    eventfd_t count;
    struct epoll_event found;
    if (epoll_wait(poll_set, &found, 1, -1) != 1 || ((struct item *)found.data.ptr)->value != 5) abort();
    if (read(event, &count, sizeof count) != sizeof count || !by_event) abort();
    if (read(counted, &count, sizeof count) != sizeof count || !by_second) abort();
    free(found.data.ptr);
    return 0;
}

int main(void) {
    event = eventfd(0, 0);
    poll_set = epoll_create1(0);
    registry = fcntl(poll_set, F_DUPFD_CLOEXEC, 3);
    event_again = dup(event);
    // A duplicate no more: its number is another one's.
    int number = dup(event);
    close(number);
    counted = eventfd(0, 0);
    if (counted != number || dup2(event_again, number + 1) != number + 1) abort();
    event_again = number + 1;
    RUN(writer, reader);
    return 0;
}
