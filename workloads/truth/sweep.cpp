/* A sweep over a grid of ranks in 2-D from one corner to the other, as in transport codes: every rank needs planes from
 * above and from the left. With all angles in one block the far corner begins late; with smaller blocks it begins soon.
 *
 * arguments: sweeps, work of a sweep (us), blocks, blocks of the fixed run
 * disease: pipeline-fill
 * run: 4x4 smpi=16 args="25 12000 1 12"
 * run: 6x6 smpi=36 args="20 16000 2 32"
 * run: 2x2 real=4 args="20 40000 1 10"
 */
#include "truth.h"

#include <vector>

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long sweeps = truth_number(&truth, 1, 25), blocks = truth_number(&truth, truth.mode == FIX ? 4 : 3, 1);
    double us = truth_number(&truth, 2, 12000);
    int sizes[2] = {0, 0}, open_ends[2] = {0, 0}, up, down, left, right, length = 100;
    MPI_Comm grid;
    MPI_Dims_create(truth.ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, open_ends, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    std::vector<double> plane(length);
    for (long sweep = 0; sweep < sweeps; sweep++) {
        for (long block = 0; block < blocks; block++) {
            MPI_Recv(plane.data(), length, MPI_DOUBLE, up, 0, grid, MPI_STATUS_IGNORE); /* place begin */
            MPI_Recv(plane.data(), length, MPI_DOUBLE, left, 1, grid, MPI_STATUS_IGNORE);
            work_us(us / (double)blocks);
            MPI_Send(plane.data(), length, MPI_DOUBLE, down, 0, grid);
            MPI_Send(plane.data(), length, MPI_DOUBLE, right, 1, grid); /* place end */
        }
        double mine = 1, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    truth_end(&truth);
}
