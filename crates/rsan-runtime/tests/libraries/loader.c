// Loads and unloads a plugin from threads that nothing orders but the loading itself, which is not seen.
#include "../programs/turn.h"
#include <dlfcn.h>
#include <string.h>

// Beside the program.
static char path[4096];

static void use(int value) {
    void *plugin = dlopen(path, RTLD_NOW);
    int (*run)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_run") : 0;
    if (!run || run(value) != 2 * value) abort();
    if (dlclose(plugin)) abort();
}

static void *first(void *_) {
    for (int i = 0; i < 5; i++) {
        wait_for_turn(2 * i);
        use(1 + i);
        end_of_turn();
    }
    return 0;
}

static void *second(void *_) {
    for (int i = 0; i < 5; i++) {
        wait_for_turn(2 * i + 1);
        use(10 + i);
        end_of_turn();
    }
    return 0;
}

int main(int _, char **arguments) {
    snprintf(path, sizeof path, "%s", arguments[0]);
    snprintf(strrchr(path, '/'), 20, "/libplugin.so");
    RUN(first, second);
    return 0;
}
