/* Nothing is wrong: every rank works alone, and one sum at the end puts it together.
 *
 * arguments: steps, work of each rank (us)
 * run: 12 smpi=12 args="100 5000"
 * run: 4 real=4 args="100 5000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 5000), inside = 0, all;
    for (long step = 0; step < steps; step++) {
        work_us(us);
        inside += chance(1, step, truth.rank);
    }
    MPI_Reduce(&inside, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    truth_end(&truth);
}
