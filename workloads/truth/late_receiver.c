/* Half of the ranks send to the other half, which compute for long before they take the message: where a send must wait
 * for its receive, the sender waits, and the receivers are to blame.
 *
 * arguments: steps, work of the senders (us), additional work of the receivers (us), bytes of a message,
 *            0 for MPI_Send, 1 for MPI_Isend and MPI_Wait, 2 for MPI_Ssend
 * disease: late-receiver imbalance
 * run: 8-80B-ssend smpi=8 args="60 1000 4000 80 2" blamed=4-7
 * run: 8-8kB-ssend smpi=8 args="60 1000 4000 8000 2" blamed=4-7
 * run: 2-100kB smpi=2 args="60 1000 4000 100000 1" blamed=1
 * run: 8-1MB smpi=8 args="60 1000 4000 1000000 0" blamed=4-7
 * run: 32-70kB smpi=32 args="40 2000 3000 70000 1" blamed=16-31
 * run: 2-80B-ssend real=2 args="60 2000 6000 80 2" blamed=1
 * run: 4-4kB openmpi=4 args="60 2000 6000 4000 1" blamed=2-3
 * run: 4-8kB openmpi=4 args="60 2000 6000 8000 0" blamed=2-3
 * run: 4-8kB-ssend real=4 args="60 2000 6000 8000 2" blamed=2-3
 * run: 4-60kB real=4 args="60 2000 6000 60000 1" blamed=2-3
 * run: 4-1MB real=4 args="60 2000 6000 1000000 0" blamed=2-3
 * run: 4-1MB-tcp openmpi=4 args="60 2000 6000 1000000 1" blamed=2-3 over=tcp
 */
#include "truth.h"

enum { SEND, ISEND, SSEND };

static void send(const char *data, int bytes, int to, long how)
{
    MPI_Request request;
    switch (how) {
    case SEND:
        MPI_Send(data, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
        break;
    case ISEND:
        MPI_Isend(data, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Ssend(data, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), how = truth_number(&truth, 5, 0);
    int bytes = (int)truth_number(&truth, 4, 80), half = truth.ranks / 2;
    double us = truth_number(&truth, 2, 1000), late_us = truth_number(&truth, 3, 4000);
    if (truth.mode == FIX)
        late_us = 0;
    char *data = calloc((size_t)bytes, 1);
    for (long step = 0; step < steps; step++) {
        if (truth.rank < half) {
            work_us(us);
            send(data, bytes, truth.rank + half, how);
        } else {
            work_us(us + late_us); /* place begin */
            MPI_Recv(data, bytes, MPI_CHAR, truth.rank - half, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* place end */
        }
    }
    truth_end(&truth);
}
