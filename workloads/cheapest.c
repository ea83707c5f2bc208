/*
 * cheapest: the cheapest call, MPI_Comm_rank(MPI_COMM_WORLD), many times over.
 * A benchmark of what a tracer adds to a call.
 *
 *     cheapest [CALLS=1000000] [BATCHES=101]
 *
 * Prints the nanoseconds per call of rank 0 as the median over the batches (the
 * median, since an interrupted batch must not count) and of the fastest batch.
 * The calls are split evenly over the batches; a remainder is dropped.
 *
 * Calls of each rank:  MPI_Init, MPI_Barrier, MPI_Finalize: 1 each
 *                      MPI_Comm_rank 1 + BATCHES x (CALLS / BATCHES)
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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rank, answer = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long calls = argc > 1 ? atol(argv[1]) : 1000000;
    long batches = argc > 2 ? atol(argv[2]) : 101;
    if (batches < 1 || calls < batches) {
        fprintf(stderr, "cheapest: needs at least one call per batch\n");
        MPI_Finalize();
        return 2;
    }
    long calls_per_batch = calls / batches;
    double *ns = malloc(batches * sizeof *ns);

    MPI_Barrier(MPI_COMM_WORLD);
    for (long b = 0; b < batches; b++) {
        double start = seconds();
        for (long i = 0; i < calls_per_batch; i++)
            MPI_Comm_rank(MPI_COMM_WORLD, &answer);
        ns[b] = (seconds() - start) * 1e9 / calls_per_batch;
    }

    qsort(ns, batches, sizeof *ns, by_value);
    if (rank == 0)
        printf("cheapest calls %ld ns_per_call %.2f fastest %.2f\n", batches * calls_per_batch,
               ns[batches / 2], ns[0]);
    free(ns);
    MPI_Finalize();
    return answer != rank;
}
