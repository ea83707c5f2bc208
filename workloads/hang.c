/*
 * hang: stops for ever, in one of the ways programs do. For reports on runs
 * that hang; it must be ended from outside.
 *
 *     hang [MODE=receive]
 *
 *   receive  ranks 0 and 1 receive from each other, and nobody has sent; the
 *            others wait in a barrier
 *   send     all ranks send 8 MB to the next one before they receive
 *   request  as receive, by MPI_Irecv and MPI_Waitall; rank 0 has sent a
 *            message with another tag
 *   miss     the last rank leaves a loop of MPI_Allreduce one round early and
 *            waits for a message from rank 0
 *   mixed    rank 0 comes to MPI_Bcast where the others come to MPI_Barrier
 *   busy     the last rank computes (sleeps) for ever, the others wait for it
 *            in a barrier
 *   poll     rank 1 sleeps for ever and never sends what rank 0 polls for by
 *            MPI_Test; the others are done and wait in MPI_Finalize
 *   none     nobody hangs: each rank ends with a barrier
 *
 * Ranks: 2 or more. Calls of each rank before it stops: MPI_Init,
 * MPI_Comm_rank, MPI_Comm_size and three MPI_Allreduce (4 bytes).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 7, ROUNDS = 3, LARGE = 8 << 20 };

static int rank, size;

static void sum_up(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * (size - 1) / 2) {
            fprintf(stderr, "hang: rank %d: the ranks add up to %d\n", rank, sum);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static void receive(void)
{
    int data = 0;
    if (rank < 2)
        MPI_Recv(&data, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send_large(void)
{
    char *out = calloc(2, LARGE);
    MPI_Send(out, LARGE, MPI_CHAR, (rank + 1) % size, TAG, MPI_COMM_WORLD);
    MPI_Recv(out + LARGE, LARGE, MPI_CHAR, (rank + size - 1) % size, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    free(out);
}

static void request(void)
{
    int out = rank, in = 0;
    if (rank < 2) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &requests[0]);
        requests[1] = MPI_REQUEST_NULL;
        if (rank == 0)
            MPI_Isend(&out, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void miss(void)
{
    int data = 0;
    if (rank == size - 1)
        MPI_Recv(&data, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        sum_up(1);
}

static void mixed(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Bcast(&data, 1, MPI_INT, 1, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void busy(void)
{
    if (rank == size - 1)
        sleep_for_ever();
    if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) /* not the last call: its line is to be seen */
        exit(1);
}

static void poll_for_nothing(void)
{
    if (rank == 1)
        sleep_for_ever();
    if (rank == 0) {
        int data = 0, done = 0;
        MPI_Request request;
        MPI_Irecv(&data, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
        while (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            usleep(1000);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*stop)(void);
    } modes[] = {
        {"receive", receive}, {"send", send_large}, {"request", request}, {"miss", miss},
        {"mixed", mixed},     {"busy", busy},       {"poll", poll_for_nothing},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum_up(ROUNDS);
    const char *mode = argc > 1 ? argv[1] : "receive";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0)
            modes[i].stop();
    if (strcmp(mode, "none") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
