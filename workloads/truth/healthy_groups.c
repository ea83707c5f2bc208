/* Nothing is wrong: sums along rows, then along columns, in communicators of their own, with the same work on each rank.
 *
 * arguments: steps, work of each rank (us), columns
 * run: 4x4 smpi=16 args="60 5000 4"
 * run: 6x8 smpi=48 args="40 6000 8"
 * run: 2x2 real=4 args="60 8000 2"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int columns = (int)truth_number(&truth, 3, 4);
    double us = truth_number(&truth, 2, 5000), mine[10] = {1}, all[10];
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, truth.rank / columns, truth.rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, truth.rank % columns, truth.rank, &column);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Allreduce(mine, all, 10, MPI_DOUBLE, MPI_SUM, row);
        MPI_Bcast(all, 10, MPI_DOUBLE, 0, column);
    }
    truth_end(&truth);
}
