/* Short steps that are now and then disturbed on some rank, for an exponentially distributed time, as by the operating
 * system. A sum over all ranks in each step spreads every delay to all of them. The fix has no disturbances.
 *
 * arguments: steps, work of each rank (us), a step is disturbed once in how many, mean delay (us), seed
 * disease: random-imbalance
 * run: 64 smpi=64 args="300 1000 64 1000 seed"
 * run: 4 real=4 args="120 6000 4 6000 seed"
 */
#include "truth.h"

#include <math.h>

static double delay_us(double mean_us, long once_in, long seed, long step, int rank)
{
    if (chance(seed, 2 * step, rank) * (double)once_in >= 1)
        return 0;
    return -mean_us * log(1 - chance(seed, 2 * step + 1, rank));
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 300), once_in = truth_number(&truth, 3, 64), seed = truth_number(&truth, 5, 1);
    double us = truth_number(&truth, 2, 1000), mean_us = truth_number(&truth, 4, 1000), mine = 1, all;
    if (truth.mode == FIX)
        mean_us = 0;
    for (long step = 0; step < steps; step++) {
        work_us(us + delay_us(mean_us, once_in, seed, step, truth.rank));   /* place begin */
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
