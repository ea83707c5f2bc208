/* Messages just above the size up to which a send does not wait for its receive. Even ranks send and then compute, odd
 * ranks compute and then receive: as large as the messages are, sends wait for all of that computation. In two halves they
 * do not.
 *
 * arguments: steps, work of a rank (us), bytes of a message
 * disease: protocol-cliff late-receiver late-post
 * run: 8-66kB smpi=8 args="60 3000 66000"
 * run: 4-above-4kB smpi=4 args="60 3000 4200" cfg=smpi/send-is-detached-thresh:4096
 * run: 16-66kB smpi=16 args="40 4000 66000"
 * run: 4-100kB-tcp openmpi=4 args="60 6000 100000" over=tcp
 * run: 4-14kB mpich=4 args="60 6000 14000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int bytes = (int)truth_number(&truth, 3, 66000), pieces = truth.mode == SICK ? 1 : 2, piece = bytes / pieces;
    double us = truth_number(&truth, 2, 3000), mine = 1, all;
    char *data = calloc((size_t)bytes, 1);
    for (long step = 0; step < steps; step++) {
        if (truth.rank % 2 == 0) {
            for (int sent = 0; sent < pieces; sent++)
                MPI_Send(data, piece, MPI_CHAR, truth.rank + 1, 0, MPI_COMM_WORLD); /* the place */
            work_us(us);
        } else {
            work_us(us); /* place begin */
            for (int taken = 0; taken < pieces; taken++)
                MPI_Recv(data, piece, MPI_CHAR, truth.rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* place end */
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
