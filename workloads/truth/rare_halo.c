/* Now and then one rank rebuilds its lists, which takes many times a step; there are no collectives, so that the delay
 * goes round the ring from neighbour to neighbour.
 *
 * arguments: steps, work of each rank (us), rebuilding (us), every how many steps, the rank
 * disease: rare-imbalance imbalance
 * run: every-20th smpi=16 args="120 1500 25000 20 5" blamed=5
 * run: every-40th smpi=8 args="160 2000 40000 40 7" blamed=7
 * run: 4-every-20th real=4 args="100 2000 40000 20 2" blamed=2
 */
#include "truth.h"

enum { LENGTH = 100 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 120), every = truth_number(&truth, 4, 20), late = truth_number(&truth, 5, 5);
    double us = truth_number(&truth, 2, 1500), rebuild_us = truth_number(&truth, 3, 25000);
    double out[2][LENGTH] = {{0}}, in[2][LENGTH];
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        MPI_Request requests[4];
        MPI_Irecv(in[0], LENGTH, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in[1], LENGTH, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        work_us(us); /* place begin */
        if (truth.mode == SICK && truth.rank == late && step % every == every / 2)
            work_us(rebuild_us);
        MPI_Isend(out[0], LENGTH, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]); /* place end */
        MPI_Isend(out[1], LENGTH, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    truth_end(&truth);
}
