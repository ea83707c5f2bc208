/* One rank has more and more to do as the run goes on: from as much as the others to several times that.
 *
 * arguments: steps, work of each rank (us), additional work in the last step (us), the rank
 * disease: growing-imbalance imbalance
 * run: 8 smpi=8 args="100 2000 8000 6" blamed=6
 * run: 32-balance smpi=32 args="80 3000 9000 0" blamed=0 fix=balance
 * run: 4 real=4 args="80 3000 12000 2" blamed=2
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), grows = truth_number(&truth, 4, 6);
    double us = truth_number(&truth, 2, 2000), more_us = truth_number(&truth, 3, 8000), mine = 1, all;
    if (truth.mode == BALANCE)
        more_us /= truth.ranks;
    else if (truth.mode == FIX || truth.rank != grows)
        more_us = 0;
    for (long step = 0; step < steps; step++) {
        work_us(us + more_us * (double)step / (double)(steps - 1));         /* place begin */
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
