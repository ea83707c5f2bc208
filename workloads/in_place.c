/*
 * in_place: exchanges in place, whose send arguments MPI must not look at.
 *
 *     in_place [CALLS=100]
 *
 * MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw with MPI_IN_PLACE, given counts,
 * displacements and types for sending that point nowhere. Whoever follows them dies.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *                      MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw: CALLS each
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Not known to the compiler, which would warn of it. */
static volatile size_t nowhere = 8;

int main(int argc, char **argv)
{
    int rank, size, calls = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int *values = malloc(3 * size * sizeof *values);
    int *counts = malloc(size * sizeof *counts);
    int *places = malloc(size * sizeof *places);
    int *bytes = malloc(size * sizeof *bytes);
    MPI_Datatype *types = malloc(size * sizeof *types);
    for (int other = 0; other < size; other++) {
        counts[other] = 1 + (rank + other) % 2;
        places[other] = 3 * other;
        bytes[other] = 3 * other * (int)sizeof *values;
        types[other] = MPI_INT;
    }
    for (int i = 0; i < 3 * size; i++)
        values[i] = 100 * rank + i;

    int *no_counts = (int *)nowhere;
    MPI_Datatype *no_types = (MPI_Datatype *)nowhere;
    for (int call = 0; call < calls; call++) {
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, values, 3, MPI_INT, MPI_COMM_WORLD);
        MPI_Alltoallv(MPI_IN_PLACE, no_counts, no_counts, MPI_INT, values, counts, places, MPI_INT,
                      MPI_COMM_WORLD);
        MPI_Alltoallw(MPI_IN_PLACE, no_counts, no_counts, no_types, values, counts, bytes, types,
                      MPI_COMM_WORLD);
    }
    long sum = 0;
    for (int i = 0; i < 3 * size; i++)
        sum = (31 * sum + values[i]) % 1000003;
    printf("in_place: rank %d of %d, sum %ld\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
