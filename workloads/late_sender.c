/*
 * late_sender: rank 0 sends late by a known time; all others wait for it.
 *
 *     late_sender [MILLISECONDS=100] [ITERATIONS=3]
 *
 * A barrier brings the ranks together. Then rank 0 sleeps for MILLISECONDS
 * before it sends, while the others are in MPI_Recv already. So each receive
 * waits MILLISECONDS, and all ranks but 0 lose ITERATIONS x MILLISECONDS each.
 *
 * Calls of each rank (P = ranks):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *     MPI_Barrier ITERATIONS
 *     rank 0: MPI_Send ITERATIONS x (P - 1) (to each rank, tag 5, 4 bytes)
 *     others: MPI_Recv ITERATIONS (from rank 0, tag 5, 4 bytes)
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG = 5 };

static void sleep_milliseconds(double milliseconds)
{
    struct timespec left = {(time_t)(milliseconds / 1000), 0};
    left.tv_nsec = (long)((milliseconds - 1000.0 * left.tv_sec) * 1e6);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double milliseconds = argc > 1 ? atof(argv[1]) : 100;
    int iterations = argc > 2 ? atoi(argv[2]) : 3;

    for (int i = 0; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            sleep_milliseconds(milliseconds);
            for (int peer = 1; peer < size; peer++)
                MPI_Send(&i, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
        } else {
            int received = -1;
            MPI_Recv(&received, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong |= received != i;
        }
    }
    if (wrong)
        fprintf(stderr, "late_sender: rank %d received a wrong number\n", rank);
    else if (rank == 0)
        printf("late_sender ranks %d milliseconds %g iterations %d\n", size, milliseconds,
               iterations);
    MPI_Finalize();
    return wrong;
}
