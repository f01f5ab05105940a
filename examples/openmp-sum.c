// A sum over all threads of a parallel loop, which add to it at the same time.
#include <stdio.h>

int main(void) {
    int values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = i;
    long sum = 0;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 1000; i++) {
#ifdef FIXED
#pragma omp atomic
#endif
        sum += values[i];
    }
    printf("sum %ld\n", sum);
    return 0;
}
