/* A ring of ranks that exchange halos with both neighbours, without any collective. Some ranks are slower than the others:
 * one, several beside each other such as those of a slow node, or several apart. All others wait for them, neighbour after
 * neighbour. In the fix they are as fast as the others.
 *
 * arguments: steps, work of each rank (us), by how much slow ranks are slower (%), the first of them, how many there are,
 *            from one to the next
 * disease: imbalance slow-ranks
 * run: 1 smpi=16 args="80 3000 50 4 1 1" blamed=4
 * run: 3 smpi=16 args="80 3000 50 4 3 1" blamed=4-6
 * run: 2-apart smpi=16 args="80 3000 50 4 2 4" blamed=4,8
 * run: node smpi=16 args="80 3000 50 8 4 1" blamed=8-11
 * run: 1-of-4 real=4 args="80 8000 80 2 1 1" blamed=2
 */
#include "truth.h"

enum { LENGTH = 500 };

static int is_slow(int rank, int first, int count, int distance)
{
    int behind = rank - first;
    return behind >= 0 && behind % distance == 0 && behind / distance < count;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80), percent = truth_number(&truth, 3, 50);
    int first = (int)truth_number(&truth, 4, 4), count = (int)truth_number(&truth, 5, 1);
    int distance = (int)truth_number(&truth, 6, 1);
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    double us = truth_number(&truth, 2, 3000);
    double *out = calloc(2 * LENGTH, sizeof(double)), *in = calloc(2 * LENGTH, sizeof(double));
    if (truth.mode == SICK && is_slow(truth.rank, first, count, distance))
        us *= 1 + (double)percent / 100;
    for (long step = 0; step < steps; step++) {
        MPI_Request requests[4];
        work_us(us);                                                                   /* place begin */
        MPI_Irecv(in, LENGTH, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);      /* place end */
        MPI_Irecv(in + LENGTH, LENGTH, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, LENGTH, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out + LENGTH, LENGTH, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* the place */
    }
    truth_end(&truth);
}
