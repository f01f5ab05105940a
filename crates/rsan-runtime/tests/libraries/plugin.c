// A plugin that is loaded and unloaded: its variables lie where another plugin's lay before.
#include <stdatomic.h>

static int plain[64];
static atomic_int ready;

int plugin_run(int value) {
    for (int i = 0; i < 64; i++) plain[i] += value;
    atomic_store_explicit(&ready, value, memory_order_relaxed);
    return plain[63] + atomic_load_explicit(&ready, memory_order_relaxed);
}
