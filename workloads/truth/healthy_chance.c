/* Nothing is wrong: steps differ by half a percent by chance, as they do on any machine.
 *
 * arguments: steps, work of each rank (us), by how much it differs at most (thousandths), seed
 * run: 16 smpi=16 args="100 4000 5 seed"
 * run: 32 smpi=32 args="60 6000 3 seed"
 * run: 4 real=4 args="80 8000 5 seed"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), seed = truth_number(&truth, 4, 1);
    double us = truth_number(&truth, 2, 4000), part = truth_number(&truth, 3, 5) / 1000.0, mine = 1, all;
    for (long step = 0; step < steps; step++) {
        work_us(us * (1 + part * chance(seed, step, truth.rank)));
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
