// A data race, before or after what the first argument says.
#define _GNU_SOURCE
#include "pinned.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *add(void *unused) {
    wait_for_main();
    counter++;
    return unused;
}

static void race(void) {
    pthread_t other;
    if (pthread_create(&other, 0, add, 0)) exit(2);
    counter++;
    let_go();
    pthread_join(other, 0);
}

static void *wait_for_ever(void *unused) {
    for (;;) pause();
    return unused;
}

static void hang(void) {
    for (;;) pause();
}

static void close_everything(void) {
    for (int file = 0; file < 2000; file++) close(file);
}

static void use_all_descriptors(void) {
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {}
}

// The runtime has no record of memory that was never touched, and can make none now.
static void use_all_memory(void) {
    char *memory = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rlimit limit = {1, 1};
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 64 << 20; i += 4096) memory[i] = 1;
}

// A child that ignores polite requests; both live until they are killed.
static void hang_with_child(void) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGTERM, SIG_IGN);
        setsid();
        hang();
    }
    printf("%d\n", (int)child);
    fflush(stdout);
    hang();
}

static void fork_with_threads(void) {
    pthread_t other;
    pthread_create(&other, 0, wait_for_ever, 0);
    pid_t child = fork();
    if (child == 0) {
        race();
        exit(0);
    }
    waitpid(child, 0, 0);
}

// The findings of a process are not those of its children.
static int child_is_clean(void) {
    int status = 1;
    if (fork() == 0) exit(0);
    wait(&status);
    return status;
}

static void become_daemon(void) {
    if (fork()) _exit(0);
    setsid();
    race();
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "close")) close_everything();
    if (!strcmp(what, "descriptors")) use_all_descriptors();
    if (!strcmp(what, "fork")) return fork_with_threads(), 0;
    if (!strcmp(what, "daemon")) return become_daemon(), 0;
    race();
    if (!strcmp(what, "child")) return child_is_clean();
    if (!strcmp(what, "segv")) *(volatile int *)8 = 0;
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "kill")) raise(SIGKILL);
    if (!strcmp(what, "memory")) use_all_memory();
    if (!strcmp(what, "hang")) hang_with_child();
    if (!strcmp(what, "_exit")) _exit(0);
    if (!strcmp(what, "exec")) execlp("true", "true", (char *)0);
    return 0;
}
