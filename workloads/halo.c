/*
 * halo: non-blocking exchange with both neighbours on a ring. A benchmark.
 *
 *     halo [ITERATIONS=1000] [BYTES=8]
 *
 * Messages to the right carry tag 1, messages to the left tag 2, so that the
 * two stay apart when both neighbours are the same rank.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Barrier,
 *                      MPI_Finalize: 1 each
 *                      MPI_Irecv 2 x ITERATIONS, MPI_Isend 2 x ITERATIONS,
 *                      MPI_Waitall ITERATIONS (4 requests, no statuses)
 * Messages per iteration: BYTES to rank + 1 with tag 1, BYTES to rank - 1 with
 * tag 2 (ranks modulo the number of ranks).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TO_RIGHT = 1, TO_LEFT = 2, CALLS_PER_ITERATION = 5 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long iterations = argc > 1 ? atol(argv[1]) : 1000;
    int bytes = argc > 2 ? atoi(argv[2]) : 8;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    unsigned char *mine = malloc(bytes + 1);
    unsigned char *from_left = calloc(bytes + 1, 1), *from_right = calloc(bytes + 1, 1);
    memset(mine, rank, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = seconds();
    for (long i = 0; i < iterations; i++) {
        MPI_Request request[4];
        MPI_Irecv(from_left, bytes, MPI_BYTE, left, TO_RIGHT, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(from_right, bytes, MPI_BYTE, right, TO_LEFT, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(mine, bytes, MPI_BYTE, right, TO_RIGHT, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(mine, bytes, MPI_BYTE, left, TO_LEFT, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    }
    double elapsed = seconds() - start;

    int wrong = 0;
    for (int i = 0; iterations > 0 && i < bytes; i++)
        wrong |= from_left[i] != (unsigned char)left || from_right[i] != (unsigned char)right;
    if (wrong)
        fprintf(stderr, "halo: rank %d received wrong bytes\n", rank);
    else if (rank == 0)
        printf("halo ranks %d iterations %ld bytes %d ns_per_call %.1f\n", size, iterations, bytes,
               iterations ? elapsed * 1e9 / (CALLS_PER_ITERATION * iterations) : 0.0);
    free(mine);
    free(from_left);
    free(from_right);
    MPI_Finalize();
    return wrong;
}
