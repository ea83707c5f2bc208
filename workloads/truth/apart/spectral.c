/* A spectral method: transforms along lines that a rank has, a transposition, and transforms along the other lines; the
 * transposition back then only restores an order that nothing in spectral space needs, and is made again for the way home.
 * Without those two, half of the exchanges of all with all are left.
 *
 * arguments: steps, work of each rank on lines (us), doubles for each rank
 * disease: alltoall
 * run: 8 smpi=8 args="60 500 20000"
 * run: 24 smpi=24 args="50 800 4000"
 * run: 4 real=4 args="80 500 60000"
 */
#include "truth.h"

static void transpose(double *out, double *in, int length)
{
    MPI_Alltoall(out, length, MPI_DOUBLE, in, length, MPI_DOUBLE, MPI_COMM_WORLD); /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    int length = (int)truth_number(&truth, 3, 20000);
    double us = truth_number(&truth, 2, 500);
    size_t bytes = (size_t)truth.ranks * (size_t)length * sizeof(double);
    double *field = calloc(bytes, 1), *turned = calloc(bytes, 1);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        transpose(field, turned, length); /* the place */
        work_us(us);
        if (truth.mode == SICK)
            transpose(turned, field, length); /* the place */
        work_us(us / 2); /* Derivatives, mode by mode. */
        if (truth.mode == SICK)
            transpose(field, turned, length); /* the place */
        work_us(us);
        transpose(turned, field, length); /* the place */
        work_us(us);
    }
    truth_end(&truth);
}
