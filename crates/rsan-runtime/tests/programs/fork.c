// findings: race
// A process that forks while its threads run; the child finds a race, and the parent sees its status.
#include "turn.h"
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop, spins;
int racy;

static void *spin(void *_) {
    while (!LOAD(stop, acquire)) atomic_fetch_add(&spins, 1);
    return 0;
}

static void *write_first(void *_) {
    wait_for_turn(0);
    racy = 1;
    end_of_turn();
    return 0;
}

static void *write_second(void *_) {
    wait_for_turn(1);
    racy = 2;
    return 0;
}

int main(void) {
    pthread_t thread;
    int status = 0, clean = 0, found = 0;
    if (pthread_create(&thread, 0, spin, 0)) abort();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            atomic_fetch_add(&spins, 1);
            free(malloc(100));
            if (i == 10) RUN(write_first, write_second);
            exit(0);
        }
        waitpid(child, &status, 0);
        clean += WEXITSTATUS(status) == 0;
        found += WEXITSTATUS(status) == 66;
    }
    STORE(stop, 1, release);
    pthread_join(thread, 0);
    return clean == 19 && found == 1 ? 0 : 1;
}
