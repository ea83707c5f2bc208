/* Two things are wrong. In every step rank 3 computes longer than the others before a sum; and in every tenth step rank 0
 * gathers and writes for long while the others wait for a broadcast. The second costs more, and is what the fix is without:
 * there rank 0 does not write. Writing is a sleep.
 *
 * arguments: steps, work of each rank (us), additional work of rank 3 (us), writing (us), every how many steps
 * disease: rare-imbalance late-root serialised-io imbalance
 * blamed: 0
 * run: 16 smpi=16 args="100 2000 1000 15000 10"
 * run: 4 real=4 args="100 4000 3000 50000 10"
 */
#include "truth.h"

enum { LATE = 3 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), every = truth_number(&truth, 5, 10);
    double us = truth_number(&truth, 2, 2000), late_us = truth_number(&truth, 3, 1000), mine = 1, all;
    double writing_us = truth.mode == SICK ? truth_number(&truth, 4, 15000) : 0;
    double *gathered = calloc((size_t)truth.ranks, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(truth.rank == LATE ? us + late_us : us);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Gather(&mine, 1, MPI_DOUBLE, gathered, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* place begin */
        if (truth.rank == 0 && step % every == every - 1)
            work_us(writing_us);
        MPI_Bcast(gathered, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
