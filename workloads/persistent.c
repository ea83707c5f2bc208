/*
 * persistent: requests that are made once and started many times, around a
 * ring, in all four send modes.
 *
 *     persistent [ITERATIONS=10] [DOUBLES=16]
 *
 * Tag 1 is the standard mode, 2 synchronous, 3 buffered, 4 ready. The barrier
 * in each iteration makes the ready send legal: all receives are started by
 * then. Odd iterations start the sends one by one, even ones all at once. At
 * the end a send with tag 5 is freed while it is active: it must arrive still.
 *
 * Calls of each rank (I = ITERATIONS, E = even iterations = (I + 1) / 2):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Buffer_attach,
 *     MPI_Buffer_detach, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init,
 *     MPI_Recv (tag 5), MPI_Wait, MPI_Reduce, MPI_Finalize: 1 each
 *     MPI_Recv_init 4, MPI_Send_init 2, MPI_Request_free 9
 *     MPI_Startall I + E, MPI_Start 4 x (I - E) + 1, MPI_Barrier I + 1,
 *     MPI_Waitall I (8 requests; statuses ignored in odd iterations),
 *     MPI_Get_count 4 x E
 * Messages per iteration: 8 x DOUBLES bytes with tags 1 to 4, to rank + 1, from
 * rank - 1 (modulo ranks); once 8 bytes with tag 5.
 */
#include "counted_calls.h"

enum { MODES = 4, FREED = 5 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int iterations = argc > 1 ? atoi(argv[1]) : 10;
    int n = argc > 2 ? atoi(argv[2]) : 16;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long bytes = n * (long)sizeof(double);

    /* A buffered message may linger here until the next iteration. */
    int space = 2 * (int)(bytes + MPI_BSEND_OVERHEAD);
    void *buffer = malloc(space);
    CALL(MPI_Buffer_attach, buffer, space);
    double *out = calloc(MODES * n + 1, sizeof *out), *in = calloc(MODES * n + 1, sizeof *in);

    MPI_Request request[2 * MODES], *receive = request, *send = request + MODES;
    for (int mode = 0; mode < MODES; mode++)
        CALL(MPI_Recv_init, in + mode * n, n, MPI_DOUBLE, left, mode + 1, MPI_COMM_WORLD,
             &receive[mode]);
    CALL(MPI_Send_init, out, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &send[0]);
    CALL(MPI_Ssend_init, out + n, n, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &send[1]);
    CALL(MPI_Bsend_init, out + 2 * n, n, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &send[2]);
    CALL(MPI_Rsend_init, out + 3 * n, n, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &send[3]);

    double sum = 0, total = 0;
    for (int i = 0; i < iterations; i++) {
        for (int k = 0; k < MODES * n; k++)
            out[k] = 1000.0 * rank + i + k;
        CALL(MPI_Startall, MODES, receive);
        CALL(MPI_Barrier, MPI_COMM_WORLD);
        if (i % 2 == 0) {
            CALL(MPI_Startall, MODES, send);
        } else {
            for (int mode = 0; mode < MODES; mode++)
                CALL(MPI_Start, &send[mode]);
        }
        MPI_Status status[2 * MODES];
        CALL(MPI_Waitall, 2 * MODES, request, i % 2 == 0 ? status : MPI_STATUSES_IGNORE);
        for (int mode = 0; mode < MODES; mode++) {
            note_send(right, mode + 1, bytes);
            note_receive(left, mode + 1, bytes);
            if (i % 2 == 0) {
                int count;
                CALL(MPI_Get_count, &status[mode], MPI_DOUBLE, &count);
                wrong |= count != n || status[mode].MPI_SOURCE != left ||
                         status[mode].MPI_TAG != mode + 1;
            }
        }
        for (int k = 0; k < MODES * n; k++) {
            wrong |= in[k] != 1000.0 * left + i + k;
            sum += in[k];
        }
    }
    /* Waiting for an inactive persistent request returns at once. */
    CALL(MPI_Wait, &send[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * MODES; i++)
        CALL(MPI_Request_free, &request[i]);

    double last = rank + 0.5, arrived = -1;
    MPI_Request freed;
    CALL(MPI_Send_init, &last, 1, MPI_DOUBLE, right, FREED, MPI_COMM_WORLD, &freed);
    CALL(MPI_Start, &freed);
    CALL(MPI_Request_free, &freed);
    CALL(MPI_Recv, &arrived, 1, MPI_DOUBLE, left, FREED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note_send(right, FREED, sizeof last);
    note_receive(left, FREED, sizeof arrived);
    wrong |= arrived != left + 0.5;
    CALL(MPI_Barrier, MPI_COMM_WORLD); /* now the freed send is complete everywhere */

    CALL(MPI_Reduce, &sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "persistent: rank %d received wrong numbers\n", rank);
    else if (rank == 0)
        printf("persistent ranks %d iterations %d doubles %d checksum %.17g\n", size, iterations,
               n, total);
    CALL(MPI_Buffer_detach, &buffer, &space);
    free(buffer), free(out), free(in);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
