// findings: race
// A program that asks about a finding while it is told of it.
#include "turn.h"
#include <string.h>

void *__tsan_get_current_report(void);
int __tsan_get_report_data(void *report, const char **description, int *count, int *stacks, int *mops, int *locs,
                           int *mutexes, int *threads, int *unique, void **sleep, unsigned long room);
int __tsan_get_report_mop(void *report, unsigned long index, int *thread, void **address, int *size, int *write,
                          int *atomic, void **trace, unsigned long room);
int __tsan_get_report_thread(void *report, unsigned long index, int *thread, unsigned long *os, int *running,
                             const char **name, int *parent, void **trace, unsigned long room);

int shared, told;

__attribute__((no_sanitize("thread"))) void __tsan_on_report(void *report) {
    const char *description, *name;
    int count, stacks, mops, locs, mutexes, threads, unique, thread, size, write, atomic, running, parent;
    unsigned long os;
    void *address, *trace[4];
    if (report != __tsan_get_current_report()) abort();
    if (!__tsan_get_report_data(report, &description, &count, &stacks, &mops, &locs, &mutexes, &threads, &unique,
                                trace, 4)) abort();
    if (strcmp(description, "data-race") || mops != 2 || threads != 2) abort();
    for (int i = 0; i < mops; i++) {
        if (!__tsan_get_report_mop(report, i, &thread, &address, &size, &write, &atomic, trace, 4)) abort();
        if (address != &shared || size != 4 || write != (i == 1) || atomic || !trace[0]) abort();
        if (!__tsan_get_report_thread(report, i, &thread, &os, &running, &name, &parent, trace, 4)) abort();
        if (thread != 2 - i || parent != 0 || !trace[0]) abort();
    }
    if (__tsan_get_report_mop(report, 2, &thread, &address, &size, &write, &atomic, trace, 4)) abort();
    told++;
}

static void *writer(void *_) {
    wait_for_turn(0);
    shared = 1;
    end_of_turn();
    return 0;
}

static void *reader(void *_) {
    wait_for_turn(1);
    return shared ? 0 : &shared;
}

int main(void) {
    RUN(writer, reader);
    if (told != 1 || __tsan_get_current_report()) abort();
    return 0;
}
