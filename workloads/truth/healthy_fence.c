/* Nothing is wrong: edges are put into the windows of neighbours between fences, and all have the same work.
 *
 * arguments: steps, work of each rank (us)
 * run: 12 smpi=12 args="60 5000"
 * run: 4 real=4 args="60 8000"
 */
#include "truth.h"

enum { LENGTH = 100 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 5000), *halo, edge[LENGTH] = {0};
    MPI_Win window;
    MPI_Win_allocate(LENGTH * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &halo, &window);
    MPI_Win_fence(0, window);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Put(edge, LENGTH, MPI_DOUBLE, (truth.rank + 1) % truth.ranks, 0, LENGTH, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
    truth_end(&truth);
}
