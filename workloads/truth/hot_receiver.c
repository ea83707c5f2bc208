/* Records are sorted by a key: each rank sends every record to the rank that holds its range of keys. Most keys are small, so
 * one rank receives far more than the others, and all wait for it in the exchange. The fix divides the range so that all
 * receive the same.
 *
 * arguments: steps, work of each rank (us), doubles sent by each rank, parts of a hundred for the hot rank
 * disease: hot-receiver
 * blamed: 5
 * run: 8 smpi=8 args="40 2000 80000 70"
 * run: 16 smpi=16 args="30 2000 40000 80"
 * run: 4 real=4 args="40 4000 2000000 90" blamed=1
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40), records = truth_number(&truth, 3, 80000);
    double us = truth_number(&truth, 2, 2000);
    int ranks = truth.ranks, hot = 5 % ranks, percent = (int)truth_number(&truth, 4, 70);
    int *given = calloc((size_t)ranks, sizeof(int)), *taken = calloc((size_t)ranks, sizeof(int));
    int *from = calloc((size_t)ranks, sizeof(int)), *to = calloc((size_t)ranks, sizeof(int)), all = 0;
    for (int rank = 0; rank < ranks; rank++) {
        long to_hot = records * percent / 100, to_other = (records - to_hot) / (ranks - 1);
        given[rank] = (int)(truth.mode == FIX ? records / ranks : rank == hot ? to_hot : to_other);
        from[rank] = rank > 0 ? from[rank - 1] + given[rank - 1] : 0;
    }
    for (int rank = 0; rank < ranks; rank++) {
        taken[rank] = given[truth.rank];
        to[rank] = all;
        all += taken[rank];
    }
    double *out = calloc((size_t)records, sizeof(double)), *in = calloc((size_t)all + 1, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Alltoallv(out, given, from, MPI_DOUBLE, in, taken, to, MPI_DOUBLE, MPI_COMM_WORLD); /* the place */
    }
    truth_end(&truth);
}
