/* Rank 0 sends the same table to all others one by one; a broadcast does the same along a tree.
 *
 * arguments: steps, work of each rank (us), doubles of the table
 * disease: collection-loop late-root
 * run: 16 smpi=16 args="40 2000 10000"
 * run: 48 smpi=48 args="30 2000 3000"
 */
#include "truth.h"

#include <vector>

static void distribute(std::vector<double> &table, const struct truth &truth)
{
    int length = (int)table.size();
    if (truth.rank != 0) {
        MPI_Recv(table.data(), length, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int to = 1; to < truth.ranks; to++)
        MPI_Send(table.data(), length, MPI_DOUBLE, to, 4, MPI_COMM_WORLD); /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double us = truth_number(&truth, 2, 2000);
    std::vector<double> table(truth_number(&truth, 3, 10000));
    for (long step = 0; step < steps; step++) {
        if (truth.mode == SICK)
            distribute(table, truth);
        else
            MPI_Bcast(table.data(), (int)table.size(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
        work_us(us);
        double mine = 1, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
