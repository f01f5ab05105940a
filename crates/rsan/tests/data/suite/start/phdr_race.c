// A race in a callback of the loader is reported there, while another thread loads libraries.
// expect: data-race
// flags: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

static int counter;

static int each(struct dl_phdr_info *info, size_t bytes, void *argument) {
    (void)info, (void)bytes, (void)argument;
    counter++; // <- data-race
    return 1;
}

static void *walk(void *argument) {
    dl_iterate_phdr(each, 0);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, walk, 0);
    for (int i = 0; i < 10; i++) {
        void *library = dlopen("libresolv.so.2", RTLD_NOW);
        if (library) dlclose(library);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
