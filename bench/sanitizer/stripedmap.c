// Hash map with a mutex for each stripe of buckets. Arguments: threads, operations of each.
#include "bench.h"

enum { BUCKETS = 4096, STRIPES = 64, KEYS = 8192 };

struct entry {
    struct entry *next;
    unsigned long key, value;
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];
static long operations;

static void add(unsigned long key) {
    unsigned long bucket = key * 0x9e3779b97f4a7c15ul >> 52;
    pthread_mutex_lock(&stripes[bucket % STRIPES]);
    struct entry *entry = buckets[bucket];
    while (entry && entry->key != key) {
        entry = entry->next;
    }
    if (!entry) {
        entry = malloc(sizeof *entry);
        check(entry != 0, "memory");
        *entry = (struct entry){buckets[bucket], key, 0};
        buckets[bucket] = entry;
    }
    entry->value++;
    pthread_mutex_unlock(&stripes[bucket % STRIPES]);
}

static void body(int thread) {
    uint32_t random = thread + 1;
    for (long i = 0; i < operations; i++) {
        add(next_random(&random) % KEYS);
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    operations = argument(argc, argv, 2, 1, 1000000000);
    for (int i = 0; i < STRIPES; i++) {
        pthread_mutex_init(&stripes[i], 0);
    }
    run_threads(threads, body);
    unsigned long sum = 0, weighted = 0;
    for (int i = 0; i < BUCKETS; i++) {
        for (struct entry *entry = buckets[i], *next; entry; entry = next) {
            next = entry->next;
            sum += entry->value;
            weighted += entry->value * entry->key;
            free(entry);
        }
    }
    check(sum == (unsigned long)(threads * operations), "sum");
    return result(weighted);
}
