/* Halo exchange by MPI_Put, where neighbours say to each other that they are ready; one rank opens its window late.
 *
 * arguments: steps, work of each rank (us), additional work of the late one (us), the late one
 * disease: imbalance late-post
 * run: 8 smpi=8 args="100 1000 3000 3" blamed=3
 * run: 32 smpi=32 args="60 2000 1500 17" blamed=17
 * run: 4 real=4 args="80 3000 4000 3" blamed=3
 */
#include "truth.h"

enum { LENGTH = 1000 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), late = truth_number(&truth, 4, 3);
    double us = truth_number(&truth, 2, 1000), more_us = truth_number(&truth, 3, 3000);
    if (truth.mode == SICK && truth.rank == late)
        us += more_us;
    double *halo, *edge = calloc(LENGTH, sizeof(double));
    MPI_Win window;
    MPI_Aint bytes = 2 * LENGTH * (MPI_Aint)sizeof(double);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &halo, &window);
    int beside[2] = {(truth.rank + 1) % truth.ranks, (truth.rank + truth.ranks - 1) % truth.ranks};
    MPI_Group all, neighbours;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, beside, &neighbours);
    for (long step = 0; step < steps; step++) {
        work_us(us);                         /* place begin */
        MPI_Win_post(neighbours, 0, window); /* place end */
        MPI_Win_start(neighbours, 0, window);
        MPI_Put(edge, LENGTH, MPI_DOUBLE, beside[0], 0, LENGTH, MPI_DOUBLE, window);
        MPI_Put(edge, LENGTH, MPI_DOUBLE, beside[1], LENGTH, LENGTH, MPI_DOUBLE, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
    truth_end(&truth);
}
