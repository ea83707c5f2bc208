/* A few ranks, far from each other, have more to do than the rest; sums over all ranks hold everybody.
 *
 * arguments: steps, work of each rank (us), additional work of the others (us), every how many ranks there is one, which
 * disease: imbalance
 * run: 2-of-16 smpi=16 args="100 1000 2000 8 3" blamed=3,11
 * run: 4-of-32 smpi=32 args="60 2000 1500 8 0" blamed=0,8,16,24 fix=balance
 * run: 3-of-48 smpi=48 args="50 1000 4000 16 15" blamed=15,31,47 fix=balance
 * run: 2-of-6 real=6 args="60 3000 5000 3 1" blamed=1,4
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), every = truth_number(&truth, 4, 8), which = truth_number(&truth, 5, 3);
    double us = truth_number(&truth, 2, 1000), more_us = truth_number(&truth, 3, 2000), out[3] = {1, 1, 1}, all[3];
    if (truth.mode == BALANCE)
        us += more_us / (double)every;
    else if (truth.mode == SICK && truth.rank % every == which)
        us += more_us;
    for (long step = 0; step < steps; step++) {
        work_us(us);                                                      /* place begin */
        MPI_Allreduce(out, all, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
