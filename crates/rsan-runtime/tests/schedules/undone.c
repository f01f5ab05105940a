// A program that leaves something behind in every way that can be undone, and finds out at its start whether something was left. Its status
// is the number of runs that this process has made, or 200 and more if something was there.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

// Memory that is not put back: who ran last, and how often.
static struct {
    pid_t process;
    int runs;
} *shared;
// Memory of the snapshot, above a page that cannot be used.
static char *private;
static int global;
static atomic_int turns;

__attribute__((constructor)) static void prepare(void) {
    shared = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    private = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(private, PAGE, PROT_NONE);
    strcpy(private + PAGE, "first");
    strcpy(private + 2 * PAGE, "second");
}

static void handle(int signal) { (void)signal; }

static int what_is_there(void) {
    struct sigaction action;
    sigset_t blocked;
    if (global) return 200;
    if (strcmp(private + PAGE, "first") || strcmp(private + 2 * PAGE, "second")) return 201;
    if (sigaction(SIGUSR1, 0, &action) || action.sa_handler != SIG_DFL) return 202;
    if (pthread_sigmask(SIG_BLOCK, 0, &blocked) || sigismember(&blocked, SIGUSR2)) return 203;
    int file = open("/proc/self/maps", O_RDONLY);
    char start[8];
    if (file < 0 || read(file, start, sizeof start) != sizeof start) return 204;
    close(file);
    // The same number again, and not the next: nothing is open that should not be.
    if (open("/proc/self/status", O_RDONLY) != file) return 205;
    return 0;
}

static void *work(void *stack) {
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes)) abort();
    if (pthread_attr_getstack(&attributes, &lowest, &bytes)) abort();
    pthread_attr_destroy(&attributes);
    char *here = (char *)&attributes;
    if (here < (char *)lowest || here >= (char *)lowest + bytes) abort();
    if (bytes < *(size_t *)stack) abort();
    if (pthread_setname_np(pthread_self(), "worker")) abort();
    if (!pthread_setname_np(pthread_self(), "a name that is too long")) abort();
    atomic_fetch_add(&turns, 1);
    return 0;
}

int main(void) {
    int found = what_is_there();
    if (found) return found;
    global = 1;
    strcpy(private + PAGE, "other");
    munmap(private, 3 * PAGE);
    struct sigaction action = {.sa_handler = handle};
    sigset_t more;
    sigemptyset(&more);
    sigaddset(&more, SIGUSR2);
    if (sigaction(SIGUSR1, &action, 0) || pthread_sigmask(SIG_BLOCK, &more, 0)) abort();
    // One page is left.
    char *pages = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages[PAGE] = 1;

    size_t stack = 1 << 20;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], &attributes, work, &stack)) abort();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);

    if (shared->process != getpid()) {
        shared->process = getpid();
        shared->runs = 0;
    }
    return atomic_load(&turns) == 2 ? ++shared->runs : 206;
}
