/*
 * allreduce: a loop of sums over all ranks. A benchmark.
 *
 *     allreduce [ITERATIONS=1000] [DOUBLES=1]
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Barrier,
 *                      MPI_Finalize: 1 each
 *                      MPI_Allreduce ITERATIONS (DOUBLES x 8 bytes each)
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
    int doubles = argc > 2 ? atoi(argv[2]) : 1;

    double *mine = malloc((doubles + 1) * sizeof *mine);
    double *sum = calloc(doubles + 1, sizeof *sum);
    for (int i = 0; i < doubles; i++)
        mine[i] = rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = seconds();
    for (long i = 0; i < iterations; i++)
        MPI_Allreduce(mine, sum, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double elapsed = seconds() - start;

    int wrong = 0;
    for (int i = 0; iterations > 0 && i < doubles; i++)
        if (sum[i] != size * (size - 1) / 2 + (double)size * i)
            wrong = 1;
    if (wrong)
        fprintf(stderr, "allreduce: rank %d has a wrong sum\n", rank);
    else if (rank == 0)
        printf("allreduce ranks %d iterations %ld doubles %d ns_per_call %.1f\n", size, iterations,
               doubles, iterations ? elapsed * 1e9 / iterations : 0.0);
    free(mine);
    free(sum);
    MPI_Finalize();
    return wrong;
}
