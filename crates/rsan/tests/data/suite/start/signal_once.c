// A handler that is to be called once is called once, and what the program is told of it is what it set.
// expect: nothing
#define _GNU_SOURCE
#include <signal.h>

static volatile sig_atomic_t calls;

static void handle(int signal) {
    (void)signal;
    calls++;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESETHAND | SA_NODEFER}, now;
    sigaction(SIGURG, &action, 0);
    sigaction(SIGURG, 0, &now);
    if (now.sa_handler != handle || !(now.sa_flags & SA_RESETHAND) || now.sa_flags & SA_SIGINFO) return 1;
    raise(SIGURG);
    raise(SIGURG); // ignored by default
    sigaction(SIGURG, 0, &now);
    return calls == 1 && now.sa_handler == SIG_DFL ? 0 : 2;
}
