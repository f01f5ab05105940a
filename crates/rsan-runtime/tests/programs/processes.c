// findings: none
// Other processes, by every means but a plain fork; with threads that run meanwhile.
#define _GNU_SOURCE
#include "turn.h"
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static atomic_int stop;
static int counted;

static void *run_along(void *_) {
    while (!LOAD(stop, acquire)) free(malloc(100));
    return 0;
}

static void ended(pid_t child, int expected) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != expected) abort();
}

__attribute__((noinline)) static void leave(int status) { _exit(status); }

int main(void) {
    pthread_t thread;
    char *arguments[] = {"true", 0}, line[16] = "";
    pid_t child;
    if (pthread_create(&thread, 0, run_along, 0)) abort();
    for (int i = 0; i < 5; i++) {
        child = vfork();
        if (child == 0) leave(3);
        ended(child, 3);
        child = vfork();
        if (child == 0) {
            execvp("true", arguments);
            _exit(4);
        }
        ended(child, 0);
        if (posix_spawnp(&child, "true", 0, 0, arguments, environ)) abort();
        ended(child, 0);
        if (system("exit 5") != 5 << 8) abort();
        FILE *pipe = popen("echo word", "r");
        if (!pipe || !fgets(line, sizeof line, pipe) || pclose(pipe)) abort();
        counted += !strcmp(line, "word\n");
    }
    child = fork();
    if (child == 0) {
        if (daemon(0, 0)) _exit(6);
        counted++;
        exit(counted == 6 ? 0 : 7);
    }
    ended(child, 0);
    STORE(stop, 1, release);
    pthread_join(thread, 0);
    return counted == 5 ? 0 : 1;
}
