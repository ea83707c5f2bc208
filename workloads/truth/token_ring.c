/* A token goes round a ring of ranks, by persistent requests, once in every step: the rank that has it updates a shared
 * catalogue, and all others wait for their turn or for the end of the round. In the fix all update at the same time.
 *
 * arguments: steps, work of each rank (us), update (us)
 * disease: pipeline-fill serialised-section
 * run: 12 smpi=12 args="50 4000 300"
 * run: 4 real=4 args="60 8000 4000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    int token = 0, right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    double us = truth_number(&truth, 2, 4000), update_us = truth_number(&truth, 3, 300), mine = 1, all;
    MPI_Request give, take;
    MPI_Send_init(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &give);
    MPI_Recv_init(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &take);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK) {
            if (truth.rank > 0) { /* place begin */
                MPI_Start(&take);
                MPI_Wait(&take, MPI_STATUS_IGNORE);
            }
            work_us(update_us);
            MPI_Start(&give);
            MPI_Wait(&give, MPI_STATUS_IGNORE);
            if (truth.rank == 0) {
                MPI_Start(&take);
                MPI_Wait(&take, MPI_STATUS_IGNORE); /* place end */
            }
        } else {
            work_us(update_us);
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the place */
    }
    truth_end(&truth);
}
