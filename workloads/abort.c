/*
 * abort: one rank calls MPI_Abort while the others wait in a barrier.
 *
 *     abort [CODE=7] [RANK=the last]
 *
 * The exit code of the run is CODE or what the launcher makes of it; it is
 * never 0.
 *
 * Calls of each rank: MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Allreduce
 * (4 bytes): 1 each; then MPI_Abort on RANK, MPI_Barrier on the others, and
 * neither returns.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int code = argc > 1 ? atoi(argv[1]) : 7;
    int aborting = argc > 2 ? atoi(argv[2]) : size - 1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == aborting) {
        printf("abort: rank %d of %d aborts with code %d\n", rank, size, code);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "abort: rank %d came back from the barrier\n", rank);
    MPI_Finalize();
    return 1;
}
