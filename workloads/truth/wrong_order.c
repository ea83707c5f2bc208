/* Rank 0 takes a result of each rank and works on it, in the order of ranks, though the first is the last to come. The
 * others lie there and wait. Taken as they come, only the last is waited for. Rank 0 has less to do than the others.
 *
 * arguments: steps, work of each rank (us), additional work of rank 1 (us), work of rank 0 on each result (us)
 * disease: wrong-order
 * blamed: 0-1
 * run: 6 smpi=6 args="60 8000 6000 1500"
 * run: 16 smpi=16 args="60 6000 5000 350"
 * run: 5 real=5 args="50 10000 7000 2400"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 1000), late_us = truth_number(&truth, 3, 3000), x = 1;
    double result_us = truth_number(&truth, 4, 1500);
    for (long step = 0; step < steps; step++) {
        if (truth.rank == 0) {
            for (int from = 1; from < truth.ranks; from++) {
                int source = truth.mode == SICK ? from : MPI_ANY_SOURCE; /* place begin */
                MPI_Recv(&x, 1, MPI_DOUBLE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                work_us(result_us); /* place end */
            }
        } else {
            work_us(truth.rank == 1 ? us + late_us : us);
            MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
