/* The rank with additional work is another one in every step: each has its turn, and all wait in the same sum.
 *
 * arguments: steps, work of each rank (us), additional work of whose turn it is (us)
 * disease: moving-imbalance
 * run: 8 smpi=8 args="160 1000 3000"
 * run: 24-balance smpi=24 args="96 2000 4000" fix=balance
 * run: 4 real=4 args="80 2000 6000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 160);
    double us = truth_number(&truth, 2, 1000), more_us = truth_number(&truth, 3, 3000), mine = 1, all;
    for (long step = 0; step < steps; step++) {
        double mine_us = us;
        if (truth.mode == BALANCE)
            mine_us += more_us / truth.ranks;
        else if (truth.mode == SICK && step % truth.ranks == truth.rank)
            mine_us += more_us;
        work_us(mine_us);                                                   /* place begin */
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
