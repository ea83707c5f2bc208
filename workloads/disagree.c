/*
 * disagree: stops for ever because ranks do not agree on what comes next. For
 * reports on runs that hang; it must be ended from outside.
 *
 *     disagree [MODE=roots]
 *
 *   roots    ranks 0 and 1 come to MPI_Bcast where the others come to
 *            MPI_Reduce, on one communicator and with large data
 *   tag      rank 1 receives a message with another tag than rank 0 sent
 *   orders   ranks 0 and 1 come to barriers of two communicators in one order,
 *            the others in the other
 *   any      rank 0 takes a message of every other rank, whichever comes first,
 *            and the last rank has forgotten to send
 *   early    rank 2 leaves a loop of MPI_Allreduce one round early and ends
 *   ring     all ranks send to the next one and receive from the next one, too
 *
 * Ranks: 4 or more. Calls of each rank before it stops: MPI_Init,
 * MPI_Comm_rank, MPI_Comm_size, two MPI_Comm_dup and three MPI_Barrier.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 7, ROUNDS = 3, LENGTH = 200000 };

static int rank, size;
static MPI_Comm one, other;
static double data[LENGTH], sums[LENGTH];

static void roots(void)
{
    int error;
    if (rank < 2)
        error = MPI_Bcast(data, LENGTH, MPI_DOUBLE, size - 1, one);
    else
        error = MPI_Reduce(data, sums, LENGTH, MPI_DOUBLE, MPI_SUM, 0, one);
    if (error != MPI_SUCCESS) /* neither is the last call: its line is to be seen */
        exit(1);
}

static void tag(void)
{
    if (rank == 0)
        MPI_Send(data, 1, MPI_DOUBLE, 1, TAG + 1, one);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_DOUBLE, 0, TAG, one, MPI_STATUS_IGNORE);
}

static void orders(void)
{
    MPI_Barrier(rank < 2 ? one : other);
    MPI_Barrier(rank < 2 ? other : one);
}

static void any(void)
{
    for (int sender = 1; rank == 0 && sender < size; sender++)
        MPI_Recv(data, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, one, MPI_STATUS_IGNORE);
    if (rank > 0 && rank < size - 1)
        MPI_Send(data, 1, MPI_DOUBLE, 0, TAG, one);
}

static void early(void)
{
    for (int round = 0; round < ROUNDS - (rank == 2); round++)
        MPI_Allreduce(data, sums, 1, MPI_DOUBLE, MPI_SUM, one);
}

static void ring(void)
{
    int next = (rank + 1) % size;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(data, 1, MPI_DOUBLE, next, TAG, one, &requests[0]);
    MPI_Issend(sums, 1, MPI_DOUBLE, next, TAG, one, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*stop)(void);
    } modes[] = {
        {"roots", roots}, {"tag", tag}, {"orders", orders}, {"any", any}, {"early", early}, {"ring", ring},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int round = 0; round < ROUNDS; round++)
        MPI_Barrier(MPI_COMM_WORLD);
    const char *mode = argc > 1 ? argv[1] : "roots";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0)
            modes[i].stop();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
