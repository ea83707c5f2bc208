/* Rank 0 adds up what it receives of all others one by one, and sends the sum back one by one. A sum over all ranks does
 * the same along a tree.
 *
 * arguments: steps, work of each rank (us), doubles
 * disease: collection-loop
 * run: 32 smpi=32 args="50 500 10"
 * run: 64 smpi=64 args="40 1000 1000"
 * run: 64-large smpi=64 args="30 2000 8000"
 */
#include "truth.h"

static void sum_by_hand(const struct truth *truth, double *mine, double *sum, int length)
{
    if (truth->rank != 0) {
        MPI_Send(mine, length, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(sum, length, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int from = 1; from < truth->ranks; from++) /* place begin */
        MPI_Recv(sum, length, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 1; to < truth->ranks; to++)
        MPI_Send(sum, length, MPI_DOUBLE, to, 1, MPI_COMM_WORLD); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    int length = (int)truth_number(&truth, 3, 10);
    double us = truth_number(&truth, 2, 500);
    double *mine = calloc((size_t)length, sizeof(double)), *sum = calloc((size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK)
            sum_by_hand(&truth, mine, sum, length);
        else
            MPI_Allreduce(mine, sum, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
