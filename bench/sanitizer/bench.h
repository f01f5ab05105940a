// What the benchmark programs share. A program does a fixed amount of work with the threads and sizes of its arguments,
// checks what it computed, and prints one number that depends on the arguments only.
#ifndef BENCH_H
#define BENCH_H

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64, LINE = 64 };

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define ACQ_REL memory_order_acq_rel
#define SEQ_CST memory_order_seq_cst

__attribute__((unused)) static void check(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "wrong: %s\n", what);
        exit(1);
    }
}

__attribute__((unused)) static long argument(int argc, char **argv, int index, long least, long most) {
    long value = index < argc ? strtol(argv[index], 0, 10) : -1;
    if (value < least || value > most) {
        fprintf(stderr, "argument %d is to be a number from %ld to %ld\n", index, least, most);
        exit(2);
    }
    return value;
}

__attribute__((unused)) static int result(unsigned long value) {
    printf("%lu\n", value);
    return 0;
}

// One round of a wait, which begins with 0 rounds. After a few it lets others run, so that a busy machine adds little work.
__attribute__((unused)) static void relax(unsigned *rounds) {
    if (++*rounds > 16) {
        sched_yield();
    } else {
        __builtin_ia32_pause();
    }
}

// Pseudo-random numbers (xorshift); the state is not to be 0.
__attribute__((unused)) static uint32_t next_random(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

typedef void work(int thread);

struct worker {
    pthread_t handle;
    work *body;
    int thread;
    cpu_set_t cpu;
};

__attribute__((unused)) static void *run_worker(void *argument) {
    struct worker *worker = argument;
    sched_setaffinity(0, sizeof worker->cpu, &worker->cpu);
    worker->body(worker->thread);
    return 0;
}

// Runs the body in so many threads, each on one processor, and waits for them.
__attribute__((unused)) static void run_threads(int threads, work *body) {
    static struct worker workers[MAX_THREADS];
    cpu_set_t all;
    check(sched_getaffinity(0, sizeof all, &all) == 0, "processors");
    int cpu = -1;
    for (int i = 0; i < threads; i++) {
        do {
            cpu = (cpu + 1) % CPU_SETSIZE;
        } while (!CPU_ISSET(cpu, &all));
        workers[i].body = body;
        workers[i].thread = i;
        CPU_ZERO(&workers[i].cpu);
        CPU_SET(cpu, &workers[i].cpu);
        check(pthread_create(&workers[i].handle, 0, run_worker, &workers[i]) == 0, "a thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].handle, 0);
    }
}

#endif
