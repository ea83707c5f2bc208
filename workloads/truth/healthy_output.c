/* Nothing is wrong: every tenth step all ranks write their own part at the same time (a sleep).
 *
 * arguments: steps, work of each rank (us), writing (us)
 * run: 16 smpi=16 args="60 4000 9000"
 * run: 4 real=4 args="60 6000 15000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 4000), writing_us = truth_number(&truth, 3, 9000), mine = 1, all;
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step % 10 == 9)
            work_us(writing_us);
    }
    truth_end(&truth);
}
