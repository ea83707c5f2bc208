/* One rank leaves the loop a step too early, as if it had converged: all others wait for it in a sum, for ever, and it
 * waits for them in a barrier.
 *
 * arguments: steps before it happens, work of a step (us), the rank
 * hang: 3
 * run: 4 real=4 args="20 1000 3"
 * run: 8-simulated smpi=8 args="20 1000 3"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 20), missing = truth_number(&truth, 3, 3);
    double us = truth_number(&truth, 2, 1000), mine = 1, all;
    for (long step = 0; step <= steps; step++) {
        work_us(us);
        if (truth.mode == SICK && truth.rank == missing && step == steps)
            break;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the place */
    truth_end(&truth);
}
