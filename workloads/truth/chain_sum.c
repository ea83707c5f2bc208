/* A hand-written sum along a chain of ranks: each receives the sum of those before it, adds its part, and sends it on; the
 * last rank broadcasts the result. The ranks add one after the other. The fix is MPI_Allreduce, which adds log2 as many
 * times in a row; that work is done there as well.
 *
 * arguments: steps, work of each rank (us), work to add a part (us)
 * disease: pipeline-fill collection-loop hand-written-collective
 * run: 64 smpi=64 args="40 3000 50"
 * run: 4 real=4 args="70 6000 4000"
 */
#include "truth.h"

enum { LENGTH = 10 };

static int rounds_of_a_tree(int ranks)
{
    int rounds = 0;
    while (1 << rounds < ranks)
        rounds++;
    return rounds;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double us = truth_number(&truth, 2, 3000), adding_us = truth_number(&truth, 3, 50), mine[LENGTH] = {0}, sum[LENGTH];
    int last = truth.ranks - 1;
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK) {
            if (truth.rank > 0) { /* place begin */
                MPI_Recv(sum, LENGTH, MPI_DOUBLE, truth.rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                work_us(adding_us);
            }
            if (truth.rank < last)
                MPI_Send(mine, LENGTH, MPI_DOUBLE, truth.rank + 1, 0, MPI_COMM_WORLD);
            MPI_Bcast(sum, LENGTH, MPI_DOUBLE, last, MPI_COMM_WORLD); /* place end */
        } else {
            work_us(adding_us * rounds_of_a_tree(truth.ranks));
            MPI_Allreduce(mine, sum, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    truth_end(&truth);
}
