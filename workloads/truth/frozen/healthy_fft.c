/* Nothing is wrong: transforms in 3-D on pencils. Each rank transforms along its first axis, transposes with its row, transforms
 * along the second, transposes with its column, and transforms along the third. Parts are small, and transforms take far
 * longer than both transpositions.
 *
 * arguments: steps, work of each rank along an axis (us), doubles for each rank of a row or a column
 * run: 16 smpi=16 args="40 3000 400"
 * run: 4 real=4 args="40 6000 400"
 */
#include "truth.h"

struct pencils {
    MPI_Comm row, column;
    int length;
    double *out, *in;
};

static struct pencils make_pencils(const struct truth *truth, int length)
{
    struct pencils pencils = {.length = length};
    int sizes[2] = {0, 0};
    MPI_Dims_create(truth->ranks, 2, sizes);
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank / sizes[1], truth->rank, &pencils.row);
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank % sizes[1], truth->rank, &pencils.column);
    pencils.out = calloc((size_t)truth->ranks * (size_t)length, sizeof(double));
    pencils.in = calloc((size_t)truth->ranks * (size_t)length, sizeof(double));
    return pencils;
}

static void transform(double us)
{
    work_us(us);
}

static void transpose(struct pencils *pencils, MPI_Comm line)
{
    double *was_in = pencils->in;
    MPI_Alltoall(pencils->out, pencils->length, MPI_DOUBLE, pencils->in, pencils->length, MPI_DOUBLE, line);
    pencils->in = pencils->out;
    pencils->out = was_in;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double us = truth_number(&truth, 2, 3000);
    struct pencils pencils = make_pencils(&truth, (int)truth_number(&truth, 3, 400));
    for (long step = 0; step < steps; step++) {
        transform(us);
        transpose(&pencils, pencils.row);
        transform(us);
        transpose(&pencils, pencils.column);
        transform(us);
    }
    MPI_Comm_free(&pencils.row);
    MPI_Comm_free(&pencils.column);
    truth_end(&truth);
}
