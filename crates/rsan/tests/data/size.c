// The size of the process does not move while the sanitizer works, once it has begun. With an argument the program limits its own
// address space first, and what is left is the program's.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BYTES = 64 << 20, PAGE = 4096 };

// Pages of the process.
static long size(void) {
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY);
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) exit(2);
    text[count] = 0;
    return atol(text);
}

static void *map(size_t bytes) {
    return mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static char *plain;
static _Atomic int *atomics;

static void *use(void *half) {
    size_t start = half ? BYTES / 2 : 0;
    for (size_t i = start; i < start + BYTES / 2; i += PAGE) plain[i] = 1;
    for (size_t i = 0; i < BYTES / sizeof(int); i += PAGE / sizeof(int)) {
        atomic_fetch_add_explicit(&atomics[i], 1, memory_order_acq_rel);
        atomic_load_explicit(&atomics[i], memory_order_acquire);
    }
    return 0;
}

static void in_two_threads(void *(*function)(void *)) {
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], 0, function, (void *)i)) exit(2);
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

static pthread_barrier_t both;

static void *meet(void *unused) {
    pthread_barrier_wait(&both);
    return unused;
}

int main(int count, char **arguments) {
    (void)arguments;
    plain = map(BYTES);
    atomics = map(BYTES);
    if (count > 1) {
        // More than the process has without what the sanitizer has reserved.
        struct rlimit limit = {(rlim_t)8 << 30, (rlim_t)8 << 30};
        if (setrlimit(RLIMIT_AS, &limit)) return 2;
        if (map(1 << 30) == MAP_FAILED) return 3;
        in_two_threads(use);
        return 0;
    }
    // Stacks of threads and arenas of the heap are libc's: it keeps these two stacks, and makes no other arena.
    mallopt(M_ARENA_MAX, 1);
    pthread_barrier_init(&both, 0, 2);
    in_two_threads(meet);
    long before = size();
    in_two_threads(use);
    long after = size();
    printf("%s: %ld pages more\n", before == after ? "the same" : "another", after - before);
    return before != after;
}
