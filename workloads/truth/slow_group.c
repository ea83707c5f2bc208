/* All ranks of one group, such as those of a slow node, are slower than the others before a sum in two levels: a sum in
 * each group, one over the leaders of groups, and a broadcast in each group. In the fix that group is as fast as the
 * others.
 *
 * arguments: steps, work of each rank (us), additional work in the slow group (us), ranks of a group, the slow group
 * disease: imbalance slow-ranks
 * run: 16 smpi=16 args="60 4000 2000 4 2" blamed=8-11
 * run: 4 real=4 args="80 8000 6000 2 1" blamed=2-3
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int size = (int)truth_number(&truth, 4, 4), slow = (int)truth_number(&truth, 5, 2);
    int number = truth.rank / size, leads = truth.rank % size == 0;
    double us = truth_number(&truth, 2, 4000);
    if (truth.mode == SICK && number == slow)
        us += truth_number(&truth, 3, 2000);
    MPI_Comm group, leaders;
    MPI_Comm_split(MPI_COMM_WORLD, number, truth.rank, &group);
    MPI_Comm_split(MPI_COMM_WORLD, leads ? 0 : MPI_UNDEFINED, truth.rank, &leaders);
    for (long step = 0; step < steps; step++) {
        double mine = 1, sum = 0;
        work_us(us); /* place begin */
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, group);
        if (leads)
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, leaders);
        MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, group); /* place end */
    }
    truth_end(&truth);
}
