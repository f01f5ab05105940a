// Breadth-first search from many nodes of one shared graph, which is only read. Arguments: threads, nodes, searches.
#include "bench.h"

enum { DEGREE = 4 };

static int (*edges)[DEGREE];
static unsigned long sums[MAX_THREADS];
static int threads;
static long nodes, searches;

static unsigned long search(int from, int *distance, int *queue) {
    long head = 0, tail = 0;
    unsigned long sum = 0;
    memset(distance, -1, nodes * sizeof *distance);
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        int node = queue[head++];
        sum += distance[node];
        for (int e = 0; e < DEGREE; e++) {
            int next = edges[node][e];
            if (distance[next] < 0) {
                distance[next] = distance[node] + 1;
                queue[tail++] = next;
            }
        }
    }
    return sum;
}

static void body(int thread) {
    int *distance = malloc(nodes * sizeof *distance), *queue = malloc(nodes * sizeof *queue);
    check(distance && queue, "memory");
    for (long s = thread; s < searches; s += threads) {
        sums[thread] += search(s * 31 % nodes, distance, queue);
    }
    free(distance);
    free(queue);
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 1, 1, MAX_THREADS);
    nodes = argument(argc, argv, 2, 2, 10000000);
    searches = argument(argc, argv, 3, 1, 1000000);
    edges = malloc(nodes * sizeof *edges);
    check(edges != 0, "memory");
    uint32_t random = 1;
    for (long i = 0; i < nodes; i++) {
        edges[i][0] = (i + 1) % nodes;
        for (int e = 1; e < DEGREE; e++) {
            edges[i][e] = next_random(&random) % nodes;
        }
    }
    run_threads(threads, body);
    free(edges);
    unsigned long sum = 0;
    for (int i = 0; i < threads; i++) {
        sum += sums[i];
    }
    return result(sum);
}
