/* A front goes over the ranks from left to right in every step, in blocks: the last rank begins when all before it have
 * done their first block. A few large blocks make it wait for long; more and smaller ones do not.
 *
 * arguments: steps, work of a step (us), blocks, blocks of the fixed run, doubles that go to the right
 * disease: pipeline-fill
 * run: 8 smpi=8 args="25 16000 2 16 1000"
 * run: 16 smpi=16 args="20 24000 4 64 200"
 * run: 4 real=4 args="20 40000 2 16 1000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 25), blocks = truth_number(&truth, truth.mode == FIX ? 4 : 3, 2);
    int length = (int)truth_number(&truth, 5, 1000);
    double us = truth_number(&truth, 2, 16000), mine = 1, all;
    double *plane = calloc((size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        for (int block = 0; block < blocks; block++) {
            if (truth.rank > 0) /* place begin */
                MPI_Recv(plane, length, MPI_DOUBLE, truth.rank - 1, block, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work_us(us / (double)blocks);
            if (truth.rank < truth.ranks - 1)
                MPI_Send(plane, length, MPI_DOUBLE, truth.rank + 1, block, MPI_COMM_WORLD); /* place end */
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
