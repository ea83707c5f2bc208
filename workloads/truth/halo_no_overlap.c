/* A halo exchange in 2-D by persistent requests, with large messages that are waited for as soon as they are started; then
 * comes work on the interior, which needs no halo. The fix does that work between MPI_Startall and MPI_Waitall.
 *
 * arguments: steps, work on the interior (us), work on the boundary (us), doubles of a halo
 * disease: transfer
 * run: 16 smpi=16 args="60 3000 500 25000"
 */
#include "truth.h"

enum { SIDES = 4 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int length = (int)truth_number(&truth, 4, 25000), sizes[2] = {0, 0}, around[2] = {1, 1}, beside[SIDES];
    double interior_us = truth_number(&truth, 2, 3000), boundary_us = truth_number(&truth, 3, 500), mine = 1, all;
    double *edges = calloc((size_t)SIDES * length, sizeof(double)), *halos = calloc((size_t)SIDES * length, sizeof(double));
    MPI_Comm grid;
    MPI_Request requests[2 * SIDES];
    MPI_Dims_create(truth.ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &beside[0], &beside[1]);
    MPI_Cart_shift(grid, 1, 1, &beside[2], &beside[3]);
    for (int side = 0; side < SIDES; side++) {
        MPI_Recv_init(halos + side * length, length, MPI_DOUBLE, beside[side], side, grid, &requests[side]);
        MPI_Send_init(edges + side * length, length, MPI_DOUBLE, beside[side], side ^ 1, grid, &requests[SIDES + side]);
    }
    for (long step = 0; step < steps; step++) {
        MPI_Startall(2 * SIDES, requests);
        if (truth.mode == FIX)
            work_us(interior_us);
        MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE); /* place begin */
        if (truth.mode == SICK)
            work_us(interior_us); /* place end */
        work_us(boundary_us);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    truth_end(&truth);
}
