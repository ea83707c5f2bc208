/* All ranks add to a number in the window of rank 0, each with the window locked, and hold the lock for long.
 *
 * arguments: steps, work of each rank outside the lock (us), work while it holds it (us)
 * disease: lock-contention
 * run: 8 smpi=8 args="100 1000 1000"
 * run: 16 smpi=16 args="40 4000 800"
 * run: 4 real=4 args="80 3000 2000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 1000), holding_us = truth_number(&truth, 3, 1000);
    if (truth.mode == FIX)
        holding_us = 0;
    double *number, old;
    MPI_Win window;
    MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &number, &window);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window); /* place begin */
        MPI_Get(&old, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Win_flush(0, window);
        work_us(holding_us);
        old += 1;
        MPI_Put(&old, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Win_unlock(0, window); /* place end */
    }
    MPI_Win_free(&window);
    truth_end(&truth);
}
