/* Nothing is wrong: conjugate gradients with a halo exchange that the inner rows hide, and two sums over all in each
 * iteration. Parts of the matrix differ by a few thousandths, always by the same, and times by as much by chance.
 *
 * arguments: iterations, work of each rank (us), by how much it differs at most (thousandths), doubles of a halo, seed
 * run: 8 smpi=8 args="80 4000 4 500 seed"
 * run: 32 smpi=32 args="50 8000 4 2000 seed"
 * run: 4 real=4 args="60 12000 4 500 seed"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long iterations = truth_number(&truth, 1, 80), seed = truth_number(&truth, 5, 1);
    int length = (int)truth_number(&truth, 4, 500);
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    double us = truth_number(&truth, 2, 4000), part = truth_number(&truth, 3, 4) / 1000.0, mine[2] = {1, 1}, all[2];
    double always = part * chance(seed, 1000000, truth.rank);
    double *out = calloc(2 * (size_t)length, sizeof(double)), *in = calloc(2 * (size_t)length, sizeof(double));
    for (long iteration = 0; iteration < iterations; iteration++) {
        double now_us = us * (1 + always + part * chance(seed, iteration, truth.rank));
        MPI_Request requests[4];
        MPI_Irecv(in, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in + length, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out + length, length, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
        work_us(0.6 * now_us);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        work_us(0.1 * now_us);
        MPI_Allreduce(&mine[0], &all[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work_us(0.2 * now_us);
        MPI_Allreduce(&mine[1], &all[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work_us(0.1 * now_us);
    }
    truth_end(&truth);
}
