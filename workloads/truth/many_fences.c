/* A one-sided halo exchange of several fields, with a fence behind the MPI_Put of each. The fix has one fence behind all of
 * them.
 *
 * arguments: steps, work of each rank (us), fields, doubles of a halo
 * disease: tiny-collectives small-messages transfer slow-call needless-collective
 * run: 16 smpi=16 args="50 500 8 100"
 * run: 4 openmpi=4 args="60 4000 500 100"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    int fields = (int)truth_number(&truth, 3, 8), length = (int)truth_number(&truth, 4, 100);
    double us = truth_number(&truth, 2, 500), *halos, *edge = calloc((size_t)length, sizeof(double));
    int right = (truth.rank + 1) % truth.ranks;
    MPI_Win window;
    MPI_Aint bytes = (MPI_Aint)fields * length * (MPI_Aint)sizeof(double);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &halos, &window);
    MPI_Win_fence(0, window);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        for (int field = 0; field < fields; field++) {
            MPI_Put(edge, length, MPI_DOUBLE, right, field * length, length, MPI_DOUBLE, window); /* place begin */
            if (truth.mode == SICK || field == fields - 1)
                MPI_Win_fence(0, window); /* place end */
        }
    }
    MPI_Win_free(&window);
    truth_end(&truth);
}
