/* Halo exchange by MPI_Put between fences; one rank comes late to the fence.
 *
 * arguments: steps, work of each rank (us), additional work of the late one (us), the late one, doubles of a halo
 * disease: imbalance
 * run: 8 smpi=8 args="100 1000 3000 3 1000" blamed=3
 * run: 16-balance smpi=16 args="100 1000 2000 9 200" blamed=9 fix=balance
 * run: 4 real=4 args="80 3000 4000 3 1000" blamed=3
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), late = truth_number(&truth, 4, 3);
    int length = (int)truth_number(&truth, 5, 1000);
    double us = truth_number(&truth, 2, 1000), more_us = truth_number(&truth, 3, 3000);
    us += truth.mode == BALANCE ? more_us / truth.ranks : truth.mode == SICK && truth.rank == late ? more_us : 0;
    double *halo, *edge = calloc((size_t)length, sizeof(double));
    MPI_Win window;
    MPI_Aint bytes = 2 * length * (MPI_Aint)sizeof(double);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &halo, &window);
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        work_us(us);              /* place begin */
        MPI_Win_fence(0, window); /* place end */
        MPI_Put(edge, length, MPI_DOUBLE, right, 0, length, MPI_DOUBLE, window);
        MPI_Put(edge, length, MPI_DOUBLE, left, length, length, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
    truth_end(&truth);
}
