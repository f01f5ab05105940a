// A parallel region whose threads race, and one that forgets to wait between two loops.
#include "../programs/turn.h"

int shared, table[2];

int main(void) {
    int number = 0;
    #pragma omp parallel num_threads(2) private(number)
    {
        #pragma omp critical
        number = shared++;
        wait_for_turn(number);
        table[0] = number;
        end_of_turn();
        #pragma omp barrier
        if (number == 0) {
            table[1] = 1;
            end_of_turn();
        } else {
            wait_for_turn(3);
            if (table[1] != 1) abort();
        }
    }
    return 0;
}
