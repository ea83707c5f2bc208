/* Forty sums of one number each in a step, one after the other; one sum of forty numbers does the same.
 *
 * arguments: steps, work of each rank (us), numbers
 * disease: tiny-collectives
 * run: 16 smpi=16 args="50 1000 40"
 * run: 64 smpi=64 args="30 1500 60"
 * run: 4 real=4 args="60 2000 100"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    int numbers = (int)truth_number(&truth, 3, 40), together = truth.mode == SICK ? 1 : numbers;
    double us = truth_number(&truth, 2, 1000);
    double *mine = calloc((size_t)numbers, sizeof(double)), *all = calloc((size_t)numbers, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        for (int first = 0; first < numbers; first += together)
            MPI_Allreduce(mine + first, all + first, together, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the place */
    }
    truth_end(&truth);
}
