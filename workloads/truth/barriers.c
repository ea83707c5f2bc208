/* Steps of random length, the same in sum on every rank, with a barrier behind each although no rank needs anything of
 * another before the end.
 *
 * arguments: steps, shortest step (us), what chance adds at most (us), seed
 * disease: needless-barrier
 * run: 8 smpi=8 args="300 500 3000 seed"
 * run: 32 smpi=32 args="200 1000 1000 seed"
 * run: 4 real=4 args="100 1000 8000 seed"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 300), seed = truth_number(&truth, 4, 1);
    double us = truth_number(&truth, 2, 500), more_us = truth_number(&truth, 3, 3000);
    for (long step = 0; step < steps; step++) {
        /* Every second step makes up for the one before. */
        double drawn = chance(seed, step / 2, truth.rank);
        work_us(us + more_us * (step % 2 == 0 ? drawn : 1 - drawn)); /* place begin */
        if (truth.mode == SICK)
            MPI_Barrier(MPI_COMM_WORLD); /* place end */
    }
    double sum = 1, all;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    truth_end(&truth);
}
