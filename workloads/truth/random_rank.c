/* In every step chance chooses a rank that has more to do; everybody waits for it in a sum.
 *
 * arguments: steps, work of each rank (us), additional work of the chosen one (us), seed
 * disease: random-imbalance moving-imbalance
 * run: 8 smpi=8 args="150 1500 3000 seed"
 * run: 32-balance smpi=32 args="100 2000 4000 seed" fix=balance
 * run: 4 real=4 args="80 3000 6000 seed"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 150), seed = truth_number(&truth, 4, 1);
    double us = truth_number(&truth, 2, 1500), more_us = truth_number(&truth, 3, 3000), mine[4] = {1}, all[4];
    for (long step = 0; step < steps; step++) {
        int chosen = (int)(chance(seed, step, 0) * truth.ranks);
        double mine_us = us;
        if (truth.mode == BALANCE)
            mine_us += more_us / truth.ranks;
        else if (truth.mode == SICK && truth.rank == chosen)
            mine_us += more_us;
        work_us(mine_us);                                                 /* place begin */
        MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
