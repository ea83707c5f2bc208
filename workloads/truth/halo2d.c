/* A grid of ranks in 2-D that exchange their edges; one rank has a mountain in its part of the map.
 *
 * arguments: steps, work of each rank (us), additional work of the mountain (us), its rank, doubles of an edge
 * disease: imbalance
 * run: 16 smpi=16 args="60 2000 3000 5 500" blamed=5 fix=balance
 * run: 64 smpi=64 args="40 3000 1500 27 2000" blamed=27
 * run: 36-large smpi=36 args="30 4000 4000 35 20000" blamed=35 fix=balance
 * run: 4 real=4 args="60 4000 4000 2 500" blamed=2
 * run: 8 openmpi=8 args="60 6000 6000 5 100" blamed=5 fix=balance
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), mountain = truth_number(&truth, 4, 5);
    int length = (int)truth_number(&truth, 5, 500), sizes[2] = {0, 0}, open_ends[2] = {0, 0}, beside[4];
    double us = truth_number(&truth, 2, 2000), more_us = truth_number(&truth, 3, 3000);
    us += truth.mode == BALANCE ? more_us / truth.ranks : truth.mode == SICK && truth.rank == mountain ? more_us : 0;
    MPI_Comm grid;
    MPI_Dims_create(truth.ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, open_ends, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &beside[0], &beside[1]);
    MPI_Cart_shift(grid, 1, 1, &beside[2], &beside[3]);
    double *out = calloc(4 * (size_t)length, sizeof(double)), *in = calloc(4 * (size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        MPI_Request requests[8];
        for (int side = 0; side < 4; side++)
            MPI_Irecv(in + side * length, length, MPI_DOUBLE, beside[side], side ^ 1, grid, &requests[side]);
        work_us(us);                       /* place begin */
        for (int side = 0; side < 4; side++)
            MPI_Isend(out + side * length, length, MPI_DOUBLE, beside[side], side, grid,
                      &requests[4 + side]); /* place end */
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    truth_end(&truth);
}
