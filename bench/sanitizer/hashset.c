// Hash set with lock-free buckets: lists that only grow, and a mark for removed keys. Everything is seq_cst: a thread
// inserts one key and looks for another, as may the next. Arguments: threads, keys.
#include "bench.h"

enum { BUCKETS = 4096, REMOVED = 0, PRESENT = 1 };

struct node {
    struct node *next;
    unsigned long key;
    atomic_int state;
};

static _Atomic(struct node *) buckets[BUCKETS];
static atomic_ulong inserted, removed;
static int threads;
static long keys;

static struct node *find(struct node *list, struct node *end, unsigned long key) {
    while (list != end && list->key != key) {
        list = list->next;
    }
    return list == end ? 0 : list;
}

static int insert(unsigned long key) {
    _Atomic(struct node *) *bucket = &buckets[key * 0x9e3779b97f4a7c15ul >> 52];
    struct node *first = atomic_load(bucket), *known = 0;
    struct node *node = find(first, 0, key);
    if (!node) {
        struct node *new = malloc(sizeof *new);
        check(new != 0, "memory");
        new->key = key;
        atomic_init(&new->state, PRESENT);
        do {
            node = find(first, known, key);
            if (node) {
                free(new);
                break;
            }
            known = first;
            new->next = first;
        } while (!atomic_compare_exchange_strong(bucket, &first, new));
        if (!node) {
            return 1;
        }
    }
    return atomic_exchange(&node->state, PRESENT) == REMOVED;
}

static int discard(unsigned long key) {
    struct node *first = atomic_load(&buckets[key * 0x9e3779b97f4a7c15ul >> 52]);
    struct node *node = find(first, 0, key);
    return node && atomic_exchange(&node->state, REMOVED) == PRESENT;
}

// Every thread inserts all keys and removes every second one, so each ends as absent or present by its last change.
static void body(int thread) {
    unsigned long in = 0, out = 0;
    for (long i = 0; i < keys; i++) {
        unsigned long key = (i + thread * (keys / threads)) % keys;
        in += insert(key);
        out += key % 2 ? discard(key) : 0;
    }
    atomic_fetch_add(&inserted, in);
    atomic_fetch_add(&removed, out);
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    keys = argument(argc, argv, 2, MAX_THREADS, 1000000000);
    run_threads(threads, body);
    unsigned long present = 0, sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
        struct node *node = atomic_load(&buckets[i]);
        while (node) {
            struct node *next = node->next;
            if (atomic_load(&node->state) == PRESENT) {
                present++;
                sum += node->key;
            }
            free(node);
            node = next;
        }
    }
    check(present == atomic_load(&inserted) - atomic_load(&removed), "keys");
    return result(sum);
}
