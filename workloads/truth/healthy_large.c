/* Nothing is wrong: large messages whose receives are posted before the work, and which travel during it.
 *
 * arguments: steps, work of each rank (us), doubles
 * run: 8 smpi=8 args="40 8000 100000"
 * run: 16 smpi=16 args="40 6000 50000"
 * run: 4 real=4 args="40 10000 20000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    int length = (int)truth_number(&truth, 3, 100000);
    double us = truth_number(&truth, 2, 8000);
    double *out = calloc((size_t)length, sizeof(double)), *in = calloc((size_t)length, sizeof(double));
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        MPI_Request both[2];
        MPI_Irecv(in, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &both[1]);
        work_us(us);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    truth_end(&truth);
}
