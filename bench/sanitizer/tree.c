// Search trees built node by node, summed up and freed. Arguments: threads, nodes of a tree, trees of each thread.
#include "bench.h"

struct node {
    struct node *left, *right;
    uint32_t key;
};

static unsigned long sums[MAX_THREADS];
static long nodes, trees;

static void insert(struct node **place, uint32_t key) {
    while (*place) {
        place = key < (*place)->key ? &(*place)->left : &(*place)->right;
    }
    *place = malloc(sizeof **place);
    check(*place != 0, "memory");
    **place = (struct node){0, 0, key};
}

static unsigned long consume(struct node *node) {
    if (!node) {
        return 0;
    }
    unsigned long sum = consume(node->left) + consume(node->right) + node->key;
    free(node);
    return sum;
}

static void body(int thread) {
    uint32_t random = thread + 1;
    for (long t = 0; t < trees; t++) {
        struct node *root = 0;
        unsigned long expected = 0;
        for (long i = 0; i < nodes; i++) {
            uint32_t key = next_random(&random);
            expected += key;
            insert(&root, key);
        }
        unsigned long sum = consume(root);
        check(sum == expected, "sum");
        sums[thread] += sum;
    }
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    nodes = argument(argc, argv, 2, 1, 100000000);
    trees = argument(argc, argv, 3, 1, 1000000);
    run_threads(threads, body);
    unsigned long sum = 0;
    for (int i = 0; i < threads; i++) {
        sum += sums[i];
    }
    return result(sum);
}
