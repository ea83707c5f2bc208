/* A triangular loop in blocks of rows: every rank has more of it than the one before. Dealt out in turns, all have the
 * same.
 *
 * arguments: steps, work of the first rank (us), doubles of a halo
 * disease: imbalance
 * fix: balance
 * run: 8 smpi=8 args="100 1000 1000" blamed=4-7
 * run: 16 smpi=16 args="60 500 100" blamed=7-15
 * run: 40 smpi=40 args="40 300 5000" blamed=18-39
 * run: 4 real=4 args="80 2000 1000" blamed=2-3
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    int length = (int)truth_number(&truth, 3, 1000);
    double us = truth_number(&truth, 2, 1000), mine = 1, all;
    us *= truth.mode == SICK ? truth.rank + 1 : (truth.ranks + 1) / 2.0;
    double *out = calloc((size_t)length, sizeof(double)), *in = calloc((size_t)length, sizeof(double));
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        MPI_Request both[2];
        work_us(us); /* place begin */
        MPI_Irecv(in, length, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &both[1]); /* place end */
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
