/* A spectral code in pencils: transforms along z, a transposition in the rows of the grid of ranks, transforms along y, one in
 * its columns, transforms along x. Two thirds of all modes in each direction are kept afterwards, the others are set to zero;
 * but they all travel before that. The fix cuts them off before, so that four ninths of the data are left.
 *
 * arguments: steps, transforms along one direction (us), doubles for each other rank of a row or column
 * disease: alltoall transfer
 * run: 16 smpi=16 args="60 1700 90000"
 */
#include "truth.h"

struct pencils {
    MPI_Comm line[2];
    int rank, count;
    double us, *now, *then;
};

static void make_lines(struct pencils *pencils, const struct truth *truth)
{
    int sizes[2] = {0, 0};
    MPI_Dims_create(truth->ranks, 2, sizes);
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank / sizes[1], truth->rank, &pencils->line[0]);
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank % sizes[1], truth->rank, &pencils->line[1]);
    size_t most = (size_t)pencils->count * (size_t)(sizes[0] > sizes[1] ? sizes[0] : sizes[1]);
    pencils->now = calloc(most, sizeof(double));
    pencils->then = calloc(most, sizeof(double));
}

static void transform(struct pencils *pencils, long step, int axis)
{
    work_us(pencils->us * (0.98 + 0.04 * chance(23, (uint64_t)(3 * step + axis), (uint64_t)pencils->rank)));
}

static void transpose(struct pencils *pencils, int which)
{
    MPI_Alltoall(pencils->now, pencils->count, MPI_DOUBLE, pencils->then, pencils->count, MPI_DOUBLE, /* place begin */
                 pencils->line[which]); /* place end */
    double *swap = pencils->now;
    pencils->now = pencils->then;
    pencils->then = swap;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    struct pencils pencils = {.us = truth_number(&truth, 2, 1700), .rank = truth.rank};
    pencils.count = (int)truth_number(&truth, 3, 90000);
    make_lines(&pencils, &truth);
    if (truth.mode != SICK)
        pencils.count = pencils.count * 4 / 9;
    for (long step = 0; step < steps; step++) {
        transform(&pencils, step, 2);
        transpose(&pencils, 0); /* the place */
        transform(&pencils, step, 1);
        transpose(&pencils, 1); /* the place */
        transform(&pencils, step, 0);
    }
    free(pencils.now);
    free(pencils.then);
    truth_end(&truth);
}
