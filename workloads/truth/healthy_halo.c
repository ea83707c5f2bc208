/* Nothing is wrong: a grid of ranks in 2-D, as much work on each, edges by messages without waiting.
 *
 * arguments: steps, work of each rank (us), doubles of an edge
 * run: 16 smpi=16 args="60 4000 200"
 * run: 64 smpi=64 args="40 5000 1000"
 * run: 4 real=4 args="60 8000 200"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int length = (int)truth_number(&truth, 3, 200), sizes[2] = {0, 0}, around[2] = {1, 1}, beside[4];
    double us = truth_number(&truth, 2, 4000);
    MPI_Comm grid;
    MPI_Dims_create(truth.ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &beside[0], &beside[1]);
    MPI_Cart_shift(grid, 1, 1, &beside[2], &beside[3]);
    double *out = calloc(4 * (size_t)length, sizeof(double)), *in = calloc(4 * (size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        MPI_Request requests[8];
        for (int side = 0; side < 4; side++)
            MPI_Irecv(in + side * length, length, MPI_DOUBLE, beside[side], side ^ 1, grid, &requests[side]);
        for (int side = 0; side < 4; side++)
            MPI_Isend(out + side * length, length, MPI_DOUBLE, beside[side], side, grid, &requests[4 + side]);
        work_us(us);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    truth_end(&truth);
}
