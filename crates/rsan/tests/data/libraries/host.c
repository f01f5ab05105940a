/* A program that is not instrumented: loads a library, and calls one of its functions. */
#include <dlfcn.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int count, char **arguments) {
    if (count < 3) return 0;
    /* Held when the runtime wakes up. */
    pthread_mutex_lock(&mutex);
    void *library = dlopen(arguments[1], RTLD_NOW);
    int (*function)(void) = library ? (int (*)(void))dlsym(library, arguments[2]) : 0;
    pthread_mutex_unlock(&mutex);
    return function ? function() : 9;
}
