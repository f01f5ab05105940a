// The program itself says that nothing is to be reported.
// expect: nothing
#include <pthread.h>

const char *__tsan_default_options(void) {
    return "history_size=7:report_bugs=0";
}

static int counter;

static void *second(void *unused) {
    (void)unused;
    counter++;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    counter++;
    pthread_join(thread, 0);
    return 0;
}
