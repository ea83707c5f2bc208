/* Nothing is wrong: a transposition that everybody needs, all parts of the same size, a small part of the run.
 *
 * arguments: steps, work of each rank (us), doubles for each rank
 * run: 16 smpi=16 args="50 6000 50"
 * run: 32 smpi=32 args="30 9000 10"
 * run: 4 real=4 args="50 8000 100"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    int length = (int)truth_number(&truth, 3, 50);
    double us = truth_number(&truth, 2, 6000);
    size_t bytes = (size_t)truth.ranks * (size_t)length * sizeof(double);
    double *out = calloc(bytes, 1), *in = calloc(bytes, 1);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Alltoall(out, length, MPI_DOUBLE, in, length, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
