/* Rank 0 collects a message from everyone by polling, does something else between polls for too long, and answers all.
 *
 * arguments: steps, work of the others (us), time between polls (us)
 * disease: imbalance rare-imbalance late-sender late-receiver
 * blamed: 0
 * run: 8 smpi=8 args="100 500 3000"
 * run: 4 real=4 args="100 1000 5000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 500), between_us = truth_number(&truth, 3, 3000), x = 1;
    if (truth.mode == FIX)
        between_us = 50;
    for (long step = 0; step < steps; step++) {
        if (truth.rank != 0) {
            work_us(us);
            MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        for (int from = 1; from < truth.ranks; from++) {
            MPI_Request request;
            MPI_Irecv(&x, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
            for (int there = 0; !there;) {
                MPI_Test(&request, &there, MPI_STATUS_IGNORE); /* place begin */
                if (!there)
                    work_us(between_us); /* place end */
            }
        }
        for (int to = 1; to < truth.ranks; to++)
            MPI_Send(&x, 1, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
