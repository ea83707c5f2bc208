/* Two phases in a step: the lower half of the ranks has a long first and a short second one, the upper half the other way
 * round, so all have the same work in a step. A sum between the phases, whose result nobody needs before the end of the
 * step, makes all wait for the longer one in both. It is in a function of its own, as in codes with a layer for
 * communication. The fix leaves it out, since the sum at the end of the step can take both numbers; balanced, all phases
 * have the same length.
 *
 * arguments: steps, long phase (us), short phase (us)
 * disease: needless-collective imbalance moving-imbalance
 * run: 16 smpi=16 args="80 4000 1000"
 * run: 16-balance smpi=16 args="80 4000 1000" fix=balance
 * run: 4 real=4 args="80 12000 3000"
 */
#include "truth.h"

static __attribute__((noinline)) double sum_of(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the place */
    return all;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    double long_us = truth_number(&truth, 2, 4000), short_us = truth_number(&truth, 3, 1000);
    if (truth.mode == BALANCE)
        long_us = short_us = (long_us + short_us) / 2;
    int lower = truth.rank < truth.ranks / 2;
    for (long step = 0; step < steps; step++) {
        work_us(lower ? long_us : short_us); /* place begin */
        if (truth.mode != FIX)
            sum_of(1);
        work_us(lower ? short_us : long_us);
        sum_of(2); /* place end */
    }
    truth_end(&truth);
}
