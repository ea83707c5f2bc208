/*
 * wrapped: a sum that depends on a library between the program and MPI.
 *
 *     wrapped [ITERATIONS=20]
 *
 * Built three times: as `wrapped` with libwrapper.so, as `wrapped_inside` with
 * the wrappers in the program itself, and as `unwrapped` without any, for
 * LD_PRELOAD. Ranks print what they have.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Bcast (4
 *                      bytes), MPI_Finalize: 1 each
 *                      MPI_Allreduce ITERATIONS (4 bytes)
 *                      MPI_Send and MPI_Recv ITERATIONS each where the rank has
 *                      a neighbour above or below
 *                      PMPI_Comm_size 1, by its profiling name
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, again;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &again);
    int iterations = argc > 1 ? atoi(argv[1]) : 20;

    int value = rank + 1;
    for (int i = 0; i < iterations; i++) {
        int sum, below = 0;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank + 1 < size)
            MPI_Send(&value, 1, MPI_INT, rank + 1, i, MPI_COMM_WORLD);
        if (rank > 0)
            MPI_Recv(&below, 1, MPI_INT, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = (3 * sum + below + rank) % 200003;
    }
    int of_root = value;
    MPI_Bcast(&of_root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("wrapped: rank %d of %d has %d, rank 0 has %d\n", rank, again, value, of_root);
    fflush(stdout);
    MPI_Finalize();
    return size != again;
}
