/* Every tenth step all data goes to rank 0, which writes them alone while the others wait for the next sum. Writing is a
 * sleep, as on a file system that is far away.
 *
 * arguments: steps, work of each rank (us), writing (us), every how many steps
 * disease: serialised-io rare-imbalance imbalance
 * blamed: 0
 * run: 8 smpi=8 args="100 2000 20000 10"
 * run: 32 smpi=32 args="100 4000 15000 5"
 * run: 4 real=4 args="100 2000 20000 10"
 */
#include "truth.h"

enum { LENGTH = 1000 };

static void dump(double us)
{
    work_us(us);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), every = truth_number(&truth, 4, 10);
    double us = truth_number(&truth, 2, 2000), writing_us = truth_number(&truth, 3, 20000), mine = 1, all;
    double *part = calloc(LENGTH, sizeof(double)), *whole = calloc((size_t)LENGTH * truth.ranks, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);                                                        /* place begin */
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (truth.mode == SICK && step % every == every - 1) {
            MPI_Gather(part, LENGTH, MPI_DOUBLE, whole, LENGTH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            if (truth.rank == 0)
                dump(writing_us); /* place end */
        }
    }
    truth_end(&truth);
}
