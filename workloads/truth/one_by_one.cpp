/* All ranks write to the same file, one after the other: each waits for a token of the one before it. Writing is a sleep;
 * in the fixed run all write at once, each to its own part.
 *
 * arguments: steps, work of each rank (us), writing (us), every how many steps
 * disease: serialised-io pipeline-fill serialised-section
 * run: 8 smpi=8 args="60 3000 2000 5"
 * run: 16 smpi=16 args="50 4000 1000 5"
 * run: 4 real=4 args="60 3000 8000 5"
 */
#include "truth.h"

static void write_part(double us)
{
    work_us(us);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), every = truth_number(&truth, 4, 5);
    double us = truth_number(&truth, 2, 3000), writing_us = truth_number(&truth, 3, 2000);
    int before = truth.rank > 0 ? truth.rank - 1 : MPI_PROC_NULL;
    int behind = truth.rank + 1 < truth.ranks ? truth.rank + 1 : MPI_PROC_NULL;
    for (long step = 0; step < steps; step++) {
        double mine = 1, all;
        char token = 0;
        work_us(us);
        if (step % every == every - 1) {
            if (truth.mode == SICK)
                MPI_Recv(&token, 1, MPI_CHAR, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* place begin */
            write_part(writing_us);
            if (truth.mode == SICK)
                MPI_Send(&token, 1, MPI_CHAR, behind, 9, MPI_COMM_WORLD); /* place end */
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
