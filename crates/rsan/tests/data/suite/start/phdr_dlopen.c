// The loader's list is walked, with calls of libc in the callback, while another thread loads and unloads libraries.
// expect: nothing
// flags: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static atomic_int stop;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int each(struct dl_phdr_info *info, size_t bytes, void *argument) {
    (void)bytes, (void)argument;
    char name[64] = "";
    struct timespec now;
    pthread_mutex_lock(&mutex);
    strncpy(name, info->dlpi_name, sizeof name - 1);
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    sem_trywait(&semaphore);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return strstr(name, "no such library") != 0;
}

static void *walk(void *argument) {
    while (!atomic_load(&stop)) dl_iterate_phdr(each, 0);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, walk, 0);
    for (int i = 0; i < 20; i++) {
        void *library = dlopen("libresolv.so.2", RTLD_NOW);
        if (library) dlclose(library);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return 0;
}
