/* Neighbours have something for each other, and the program uses a collective of all with all for it, in which nearly all
 * parts are empty. Messages between neighbours do.
 *
 * arguments: steps, work of each rank (us), doubles for a neighbour
 * disease: alltoall
 * run: 32 smpi=32 args="40 500 100" overhead=2e-6
 * run: 48 smpi=48 args="25 1000 1000" overhead=5e-6
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    int length = (int)truth_number(&truth, 3, 100);
    double us = truth_number(&truth, 2, 500);
    double *out = calloc(2 * (size_t)length, sizeof(double)), *in = calloc(2 * (size_t)length, sizeof(double));
    int *counts = calloc((size_t)truth.ranks, sizeof(int)), *places = calloc((size_t)truth.ranks, sizeof(int));
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    counts[right] = counts[left] = length;
    places[left] = length;
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK) {
            MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD); /* the place */
        } else {
            MPI_Request requests[4];
            MPI_Irecv(in, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(in + length, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[1]);
            MPI_Isend(out, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
            MPI_Isend(out + length, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[3]);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        }
    }
    truth_end(&truth);
}
