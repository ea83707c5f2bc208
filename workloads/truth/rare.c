/* Every tenth step, or every fiftieth, one rank computes for much longer, before a sum over all.
 *
 * arguments: steps, work of each rank (us), additional work of the late one (us), every how many steps, the late one
 * disease: rare-imbalance imbalance
 * run: every-10th smpi=8 args="100 2000 20000 10 0" blamed=0
 * run: every-50th smpi=8 args="200 2000 20000 50 0" blamed=0
 * run: every-25th smpi=32 args="100 3000 30000 25 13" blamed=13
 * run: 4-every-10th real=4 args="100 2000 20000 10 0" blamed=0
 * run: 4-every-50th real=4 args="200 2000 30000 50 1" blamed=1
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), every = truth_number(&truth, 4, 10), late = truth_number(&truth, 5, 0);
    double us = truth_number(&truth, 2, 2000), more_us = truth_number(&truth, 3, 20000), mine = 1, all;
    for (long step = 0; step < steps; step++) {
        work_us(us); /* place begin */
        if (truth.mode == SICK && truth.rank == late && step % every == every - 1)
            work_us(more_us);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
