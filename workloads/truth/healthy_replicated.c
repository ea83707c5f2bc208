/* Nothing is wrong within one run: every rank has an equal part of the work, and does another part as all others do, such
 * as an assembly that is replicated; then come a halo exchange and a sum. Only runs with different numbers of ranks show
 * that the replicated part does not become shorter. The fix divides it, too.
 *
 * arguments: steps, work that is divided among ranks (us), replicated work (us)
 * run: 4 smpi=4 args="40 64000 1000"
 * run: 16 smpi=16 args="40 64000 1000"
 * run: 64 smpi=64 args="40 64000 1000"
 * run: 4-real real=4 args="60 64000 8000"
 */
#include "truth.h"

enum { LENGTH = 1000 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double us = truth_number(&truth, 2, 64000) / (double)truth.ranks, replicated_us = truth_number(&truth, 3, 1000);
    if (truth.mode == FIX)
        replicated_us /= truth.ranks;
    double *edge = calloc(LENGTH, sizeof(double)), *halo = calloc(LENGTH, sizeof(double)), mine = 1, all;
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        work_us(replicated_us);
        work_us(us);
        MPI_Sendrecv(edge, LENGTH, MPI_DOUBLE, right, 0, halo, LENGTH, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
