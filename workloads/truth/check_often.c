/* Every step ends with a sum over all ranks to check for convergence. Steps differ in length by chance, with the same mean
 * on each rank, so every sum waits for the longest of them. The fix checks every tenth step only: until then long and short
 * steps even out.
 *
 * arguments: steps, shortest step (us), what chance adds at most (us), every how many steps the fixed run checks, seed
 * disease: random-imbalance needless-collective
 * run: 16 smpi=16 args="200 2000 4000 10 seed"
 * run: 4 real=4 args="80 4000 16000 10 seed"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 200), seed = truth_number(&truth, 5, 1);
    long every = truth.mode == SICK ? 1 : truth_number(&truth, 4, 10);
    double us = truth_number(&truth, 2, 2000), more_us = truth_number(&truth, 3, 4000), residual = 1, all;
    for (long step = 0; step < steps; step++) {
        work_us(us + more_us * chance(seed, step, truth.rank)); /* place begin */
        if (step % every == every - 1)
            MPI_Allreduce(&residual, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
