/* A sum over all ranks is begun, computation goes on, then its end is waited for. One rank begins late.
 *
 * arguments: steps, work before (us), work meanwhile (us), additional work of the late one (us), the late one
 * disease: imbalance
 * run: 8 smpi=8 args="100 500 2000 5000 1" blamed=1
 * run: 16 smpi=16 args="80 1000 1000 4000 9" blamed=9
 * run: 4 real=4 args="80 1000 2000 6000 1" blamed=1
 */
#include "truth.h"

enum { LENGTH = 10000 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), late = truth_number(&truth, 5, 1);
    double before_us = truth_number(&truth, 2, 500), meanwhile_us = truth_number(&truth, 3, 2000);
    if (truth.mode == SICK && truth.rank == late)
        before_us += truth_number(&truth, 4, 5000);
    double *mine = calloc(LENGTH, sizeof(double)), *all = calloc(LENGTH, sizeof(double));
    for (long step = 0; step < steps; step++) {
        MPI_Request sum;
        work_us(before_us);                                                               /* place begin */
        MPI_Iallreduce(mine, all, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &sum);     /* place end */
        work_us(meanwhile_us);
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
    }
    truth_end(&truth);
}
