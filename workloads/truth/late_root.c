/* The root of a broadcast prepares for long what everybody waits for.
 *
 * arguments: steps, work of each rank behind the broadcast (us), preparing (us), the root
 * disease: late-root imbalance
 * run: 16 smpi=16 args="80 2000 3000 0" blamed=0
 * run: 64 smpi=64 args="60 3000 2000 17" blamed=17
 * run: 4 real=4 args="80 3000 5000 2" blamed=2
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    int root = (int)truth_number(&truth, 4, 0);
    double us = truth_number(&truth, 2, 2000), preparing_us = truth_number(&truth, 3, 3000), parameters[64] = {0};
    for (long step = 0; step < steps; step++) {
        if (truth.rank == root && truth.mode == SICK)
            work_us(preparing_us);                                      /* place begin */
        MPI_Bcast(parameters, 64, MPI_DOUBLE, root, MPI_COMM_WORLD); /* place end */
        work_us(us);
    }
    truth_end(&truth);
}
