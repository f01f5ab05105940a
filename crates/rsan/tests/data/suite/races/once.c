// pthread_once orders the initialisation before every user.
// expect: nothing
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value;

static void initialise(void) { value = 42; }

static void *use(void *unused) {
    pthread_once(&once, initialise);
    return value == 42 ? NULL : unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, use, NULL);
    pthread_create(&second, NULL, use, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
