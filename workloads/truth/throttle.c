/* From the middle of the run on, one rank is slower at everything, as a core that was throttled because of its temperature:
 * in two kernels, with a halo exchange between them and a sum behind. In the fix it stays as fast as the others.
 *
 * arguments: steps, work of each rank in the first kernel, in the second (us), by how much the rank is slower (%), the rank
 * disease: growing-imbalance imbalance slow-ranks
 * run: 12 smpi=12 args="100 2000 1500 60 6" blamed=6
 * run: 4 real=4 args="80 6000 4000 100 2" blamed=2
 */
#include "truth.h"

enum { LENGTH = 100 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), percent = truth_number(&truth, 4, 60), slow = truth_number(&truth, 5, 6);
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    double first_us = truth_number(&truth, 2, 2000), second_us = truth_number(&truth, 3, 1500), mine = 1, all;
    double edge[LENGTH] = {0}, halo[LENGTH];
    for (long step = 0; step < steps; step++) {
        int throttled = truth.mode == SICK && truth.rank == slow && step >= steps / 2;
        double factor = throttled ? 1 + (double)percent / 100 : 1;
        work_us(first_us * factor); /* place begin */
        MPI_Sendrecv(edge, LENGTH, MPI_DOUBLE, right, 0, halo, LENGTH, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        work_us(second_us * factor);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
