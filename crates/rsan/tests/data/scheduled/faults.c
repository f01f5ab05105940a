// Fails under some schedules only; how is said by the argument.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
static atomic_int a, b;
static const char *how = "";
static void fail(void) {
    if (!strcmp(how, "crash"))
        abort();
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "hang"))
        for (;;)
            ;
    if (!strcmp(how, "spin"))
        for (int i = 0;; i++)
            atomic_store(&a, i);
    if (!strcmp(how, "fork") && fork() == 0)
        _exit(0);
    if (!strcmp(how, "exec"))
        execlp("true", "true", (char *)0);
    if (!strcmp(how, "server"))
        kill(getppid(), SIGKILL);
}
static void *writer(void *unused) {
    atomic_store(&a, 1);
    atomic_store(&b, 1);
    return unused;
}
int main(int count, char **arguments) {
    if (count > 1)
        how = arguments[1];
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    if (atomic_load(&a) == 1 && atomic_load(&b) == 0)
        fail();
    pthread_join(thread, 0);
}
