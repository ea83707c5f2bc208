/* Every step splits the same communicator, for one sum over a quarter of the ranks; it could be split once, before the loop.
 *
 * arguments: steps, work of each rank (us)
 * disease: repeated-communicator
 * run: 16 smpi=16 args="100 400"
 * run: 32 smpi=32 args="60 800"
 * run: 4 real=4 args="100 1000"
 */
#include "truth.h"

static MPI_Comm split(const struct truth *truth)
{
    MPI_Comm group;
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank % 4, truth->rank, &group); /* the place */
    return group;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 400), mine = 1, sum;
    MPI_Comm group = truth.mode == SICK ? MPI_COMM_NULL : split(&truth);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK)
            group = split(&truth);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, group);
        if (truth.mode == SICK)
            MPI_Comm_free(&group);
    }
    truth_end(&truth);
}
