/*
 * pingpong: two ranks send one message to and fro. A benchmark.
 *
 *     pingpong [ITERATIONS=1000] [BYTES=8]
 *
 * Ranks 0 and 1 play; further ranks only take part in the barrier.
 *
 * Calls of each rank:   MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Barrier,
 *                       MPI_Finalize: 1 each
 * Calls of ranks 0, 1:  MPI_Send ITERATIONS, MPI_Recv ITERATIONS
 *                       (peer 1 - rank, tag 7, BYTES bytes)
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG = 7 };

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
    if (size < 2) {
        fprintf(stderr, "pingpong: needs 2 ranks\n");
        MPI_Finalize();
        return 2;
    }

    unsigned char *ball = calloc(bytes + 1, 1); /* one spare byte: BYTES may be 0 */
    MPI_Barrier(MPI_COMM_WORLD);
    double start = seconds();
    for (long i = 0; i < iterations; i++) {
        if (rank == 0) {
            ball[0]++;
            MPI_Send(ball, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(ball, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(ball, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (bytes)
                ball[0]++;
            MPI_Send(ball, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        }
    }
    double elapsed = seconds() - start;

    /* Both players add one in each round; an empty ball is counted by rank 0 alone. */
    int wrong = rank == 0 && ball[0] != (unsigned char)(bytes ? 2 * iterations : iterations);
    if (wrong)
        fprintf(stderr, "pingpong: the ball came back as %d\n", ball[0]);
    else if (rank == 0)
        printf("pingpong iterations %ld bytes %d ns_one_way %.1f\n", iterations, bytes,
               iterations ? elapsed * 1e9 / (2 * iterations) : 0.0);
    free(ball);
    MPI_Finalize();
    return wrong;
}
