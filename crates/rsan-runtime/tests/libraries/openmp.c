// OpenMP's constructs, each of which orders what it should: no finding.
#include <omp.h>
#include <stdlib.h>
int main(void) {
    static int a[1000], b[1000];
    int sum = 0, count = 0, tasks = 0, once = 0, given = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int round = 0; round < 5; round++) {
        #pragma omp parallel for num_threads(4)
        for (int i = 0; i < 1000; i++) a[i] = i;
        #pragma omp parallel for num_threads(4) reduction(+:sum) schedule(dynamic, 10)
        for (int i = 0; i < 1000; i++) sum += a[999 - i];
        #pragma omp parallel num_threads(4)
        {
            #pragma omp for
            for (int i = 0; i < 1000; i++) b[i] = a[i] + 1;
            #pragma omp for schedule(guided)
            for (int i = 0; i < 1000; i++) a[i] = b[999 - i];
            #pragma omp critical
            count++;
            #pragma omp barrier
            #pragma omp single
            once += count;
            omp_set_lock(&lock);
            count += 10;
            omp_unset_lock(&lock);
            int own;
            #pragma omp single copyprivate(own)
            own = ++given;
            if (own != round + 1) abort();
            #pragma omp master
            tasks = 0;
            #pragma omp barrier
            #pragma omp single
            {
                for (int i = 0; i < 10; i++) {
                    #pragma omp task firstprivate(i) shared(tasks, b)
                    {
                        b[i]++;
                        #pragma omp atomic
                        tasks++;
                    }
                }
                #pragma omp task depend(out : b[20])
                b[20] = 5;
                #pragma omp task depend(in : b[20])
                if (b[20] != 5) abort();
                #pragma omp taskwait
                if (b[3] < 0 || tasks != 10) abort();
            }
            #pragma omp sections
            {
                #pragma omp section
                a[0] = 1;
                #pragma omp section
                a[1] = 2;
            }
            if (a[0] != 1 || a[1] != 2) abort();
        }
    }
    omp_destroy_lock(&lock);
    return sum == 2497500 && count == 5 * 44 ? 0 : 1;
}
