// Functions that format read and write no more than they say: a precision, a size and a failed conversion limit them.
// expect: nothing
#include <pthread.h>
#include <stdio.h>

static char text[] = "abcdef", target[16], unread[4];
static int kept;

static void *work(void *unused) {
    char copy[8];
    snprintf(copy, sizeof copy, "%.2s", text);
    snprintf(copy, sizeof copy, "%.*s", 2, text);
    snprintf(target, 4, "%s", "twelve");
    sscanf("x", "%d%s", &kept, unread);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    text[2] = 'x';
    target[4] = 'x';
    kept = 1;
    unread[0] = 1;
    pthread_join(thread, 0);
    return 0;
}
