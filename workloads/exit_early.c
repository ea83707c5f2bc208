/*
 * exit_early: all ranks call exit() without MPI_Finalize.
 *
 *     exit_early [CODE=3] [ITERATIONS=10]
 *
 * A launcher ends by itself, since all ranks are gone, with a code that is not
 * 0 unless CODE is (and with some launchers not even then).
 *
 * Calls of each rank: MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Barrier: 1
 * each; MPI_Allreduce ITERATIONS (4 bytes); no MPI_Finalize.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int code = argc > 1 ? atoi(argv[1]) : 3;
    int iterations = argc > 2 ? atoi(argv[2]) : 10;
    for (int i = 0; i < iterations; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("exit_early ranks %d sum %d\n", size, sum);
        fflush(stdout);
    }
    /* A launcher may kill the others once the first is gone: none is to be
       caught in the middle of the loop. */
    MPI_Barrier(MPI_COMM_WORLD);
    exit(code);
}
