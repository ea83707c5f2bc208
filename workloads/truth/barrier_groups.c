/* Groups of ranks that work on different things and have a communicator each, with a barrier over all ranks behind every
 * step that only a progress bar needs.
 *
 * arguments: steps, least work of a step (us), what chance adds at most (us), ranks of a group, seed
 * disease: needless-barrier
 * run: 16 smpi=16 args="100 1000 4000 4 seed"
 * run: 24 smpi=24 args="80 2000 3000 6 seed"
 * run: 4 real=4 args="80 2000 8000 2 seed"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), members = truth_number(&truth, 4, 4), seed = truth_number(&truth, 5, 1);
    double us = truth_number(&truth, 2, 1000), more_us = truth_number(&truth, 3, 4000), mine = 1, all;
    int group_number = truth.rank / (int)members;
    MPI_Comm group;
    MPI_Comm_split(MPI_COMM_WORLD, group_number, truth.rank, &group);
    for (long step = 0; step < steps; step++) {
        work_us(us + more_us * chance(seed, step, group_number));
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, group);
        if (truth.mode == SICK)
            MPI_Barrier(MPI_COMM_WORLD); /* the place */
    }
    truth_end(&truth);
}
