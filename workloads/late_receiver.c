/*
 * late_receiver: receivers that are late by a known time; whether their senders
 * wait for them is for the MPI library to decide, and measured here.
 *
 *     late_receiver [BYTES=8000] [MILLISECONDS=20] [ITERATIONS=20] [send|isend|progress]
 *
 * Ranks r and r + 1 (r even) are pairs; a last rank without partner only takes
 * part in what brings ranks together. In each iteration both start at an agreed
 * moment. The even rank sends BYTES at once; the odd rank sleeps for MILLISECONDS
 * first:
 *     send      MPI_Send; MPI_Recv after the sleep
 *     isend     MPI_Isend, MPI_Wait; MPI_Recv after the sleep
 *     progress  MPI_Send; MPI_Irecv before the sleep, and before the send, which
 *               comes 2 ms later; MPI_Wait after the sleep
 * With BYTES a list such as 80,8000,60000 each iteration sends one message of each
 * size, with a sleep before each.
 *
 * Where the library takes the message from its sender, the sender does not wait;
 * where it does not, the sender waits until the receiver is there. At the end rank
 * 0 prints for each size how many sends were over only after their receiver was
 * there, and how long they had waited until then, summed over all pairs, by the
 * clock of the host: CLOCK_MONOTONIC, so all ranks must run on one.
 *
 * The sleep lies in a region `late` (kizami.h). Before each message the ranks agree
 * on a moment to start at, 10 ms after the last has come, by an MPI_Allreduce on a
 * communicator of its own ("between iterations").
 *
 * Calls of each rank (S = sizes, N = ITERATIONS):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Comm_dup, MPI_Comm_set_name,
 *         MPI_Comm_free, MPI_Finalize: 1 each
 *     MPI_Allreduce N x S (8 bytes), MPI_Reduce 2 (to rank 0, sums)
 *     even ranks with a partner: N x S of MPI_Send, or of MPI_Isend and MPI_Wait
 *     odd ranks: N x S of MPI_Recv, or of MPI_Irecv and MPI_Wait;
 *         MPI_Send (when it was there: 8 x N x S bytes, tag 6) 1
 *     even ranks with a partner: MPI_Recv 1 of that
 */
#include <errno.h>
#include <kizami.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 5, TIMES_TAG = 6, MOST_SIZES = 32 };
static const double SETTLE_MS = 10, HEAD_START_MS = 2;

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

static void sleep_until(double moment_ms)
{
    for (double left; (left = moment_ms - milliseconds()) > 0;) {
        struct timespec rest = {(time_t)(left / 1e3), 0};
        rest.tv_nsec = (long)(1e6 * (left - 1e3 * rest.tv_sec));
        nanosleep(&rest, NULL);
    }
}

/* Gives the agreed moment. */
static double start_together(MPI_Comm between)
{
    double mine = milliseconds() + SETTLE_MS, start;
    MPI_Allreduce(&mine, &start, 1, MPI_DOUBLE, MPI_MAX, between);
    sleep_until(start);
    return start;
}

/* Not inlined, so that it has a name in every tool. */
__attribute__((noinline)) static void be_late(double until_ms)
{
    KIZAMI_REGION_BEGIN("late");
    sleep_until(until_ms);
    KIZAMI_REGION_END("late");
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char list[256] = "8000";
    if (argc > 1)
        snprintf(list, sizeof list, "%s", argv[1]);
    double late_ms = argc > 2 ? atof(argv[2]) : 20;
    int iterations = argc > 3 ? atoi(argv[3]) : 20;
    const char *mode = argc > 4 ? argv[4] : "send";
    int nonblocking = strcmp(mode, "isend") == 0, progress = strcmp(mode, "progress") == 0;
    int bytes[MOST_SIZES], sizes = 0, largest = 1;
    for (char *word = strtok(list, ","); word && sizes < MOST_SIZES; word = strtok(NULL, ",")) {
        bytes[sizes] = atoi(word);
        if (bytes[sizes] > largest)
            largest = bytes[sizes];
        sizes++;
    }
    MPI_Comm between;
    MPI_Comm_dup(MPI_COMM_WORLD, &between);
    MPI_Comm_set_name(between, "between iterations");

    int sends = rank % 2 == 0 && rank + 1 < size, receives = rank % 2 == 1;
    int messages = iterations * sizes;
    char *data = calloc(largest, 1);
    /* When the call began and was over in which each send may wait; when each receiver was there. */
    double *began = calloc(3 * messages + 1, sizeof *began);
    double *over = began + messages, *there = over + messages;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int m = 0; m < messages; m++) {
        int count = bytes[m % sizes];
        double start = start_together(between);
        if (receives) {
            if (progress)
                MPI_Irecv(data, count, MPI_BYTE, rank - 1, TAG, MPI_COMM_WORLD, &request);
            be_late(start + late_ms);
            there[m] = milliseconds();
            if (progress)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            else
                MPI_Recv(data, count, MPI_BYTE, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong |= count > 0 && (data[0] != (char)m || data[count - 1] != (char)m);
        }
        if (sends) {
            memset(data, m, count);
            if (progress)
                sleep_until(start + HEAD_START_MS);
            if (nonblocking)
                MPI_Isend(data, count, MPI_BYTE, rank + 1, TAG, MPI_COMM_WORLD, &request);
            began[m] = milliseconds();
            if (nonblocking)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            else
                MPI_Send(data, count, MPI_BYTE, rank + 1, TAG, MPI_COMM_WORLD);
            over[m] = milliseconds();
        }
    }
    MPI_Comm_free(&between);

    double waited_ms[MOST_SIZES] = {0}, all_ms[MOST_SIZES] = {0};
    int waited[MOST_SIZES] = {0}, all[MOST_SIZES] = {0};
    if (receives)
        MPI_Send(there, messages, MPI_DOUBLE, rank - 1, TIMES_TAG, MPI_COMM_WORLD);
    if (sends)
        MPI_Recv(there, messages, MPI_DOUBLE, rank + 1, TIMES_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int m = 0; sends && m < messages; m++) {
        if (began[m] < there[m] && there[m] < over[m]) {
            waited[m % sizes]++;
            waited_ms[m % sizes] += there[m] - began[m];
        }
    }
    MPI_Reduce(waited_ms, all_ms, sizes, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(waited, all, sizes, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int s = 0; rank == 0 && s < sizes; s++)
        printf("late_receiver %s bytes %d waited %d of %d for %.3f ms\n", mode, bytes[s], all[s],
               size / 2 * iterations, all_ms[s]);
    if (wrong)
        fprintf(stderr, "late_receiver: rank %d received a wrong message\n", rank);
    free(began);
    free(data);
    MPI_Finalize();
    return wrong;
}
