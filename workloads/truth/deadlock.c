/* Two ranks receive of each other before they send; the others wait in a barrier, for ever.
 *
 * arguments: steps before it happens, work of a step (us)
 * hang: 0 1
 * run: 4 real=4 args="20 1000"
 * run: 16-simulated smpi=16 args="20 1000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 20);
    double us = truth_number(&truth, 2, 1000), x = 1;
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (truth.rank < 2) {
        int other = 1 - truth.rank;
        if (truth.mode == FIX && truth.rank == 0)
            MPI_Send(&x, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the place */
        if (truth.mode == SICK || truth.rank == 1)
            MPI_Send(&x, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    truth_end(&truth);
}
