/* A hot spot that moves on to the next rank every few steps, in a ring that exchanges halos in both directions.
 *
 * arguments: steps, work of each rank (us), additional work of the hot one (us), steps it stays, doubles of a halo
 * disease: moving-imbalance
 * run: 8 smpi=8 args="240 1000 3000 20 1000" fix=balance
 * run: 8-80B smpi=8 args="240 1000 3000 20 10"
 * run: 8-8kB smpi=8 args="240 1000 3000 20 1000"
 * run: 64-80B smpi=64 args="128 1000 3000 2 10" fix=balance
 * run: 12-100kB smpi=12 args="120 2000 4000 10 12500"
 * run: 4-80B real=4 args="80 2000 6000 10 10"
 * run: 4-8kB real=4 args="80 2000 6000 10 1000"
 * run: 4-8kB-tcp openmpi=4 args="80 2000 6000 10 1000" over=tcp
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 240), stays = truth_number(&truth, 4, 20);
    int length = (int)truth_number(&truth, 5, 1000);
    double us = truth_number(&truth, 2, 1000), hot_us = truth_number(&truth, 3, 3000), sum = 1, all;
    double *out = calloc((size_t)length, sizeof(double)), *in = calloc((size_t)length, sizeof(double));
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        int hot = (int)(step / stays) % truth.ranks;
        double more_us = truth.mode == BALANCE                         ? hot_us / truth.ranks
                         : truth.mode == SICK && truth.rank == hot     ? hot_us
                                                                       : 0;
        work_us(us + more_us); /* place begin */
        MPI_Sendrecv(out, length, MPI_DOUBLE, right, 0, in, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE); /* place end */
        MPI_Sendrecv(out, length, MPI_DOUBLE, left, 1, in, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    truth_end(&truth);
}
