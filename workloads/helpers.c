/*
 * helpers: a program that calls MPI in helper functions only, as most large programs do.
 *
 *     helpers [ITERATIONS=20] [MILLISECONDS=4]
 *
 * Each iteration solves and then goes down three levels of a multigrid cycle. Sums are made by sum(), messages by exchange(),
 * whoever needs them. Between the exchange and the first dot product of solve(), rank 0 takes so many milliseconds longer
 * than the others, which wait for it in sum().
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *                      MPI_Allreduce 2 x ITERATIONS (8 bytes)
 *                      MPI_Sendrecv (1 + 3 x 2 x 2) x ITERATIONS (64 bytes)
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#define HELPER __attribute__((noinline)) static

static int rank, ranks;

/* Stands for computation, and takes no core from the other ranks. */
HELPER void compute(double milliseconds)
{
    long ns = (long)(milliseconds * 1e6);
    struct timespec time = {ns / 1000000000, ns % 1000000000};
    nanosleep(&time, NULL);
}

HELPER double sum(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

HELPER void exchange(double *edges)
{
    MPI_Sendrecv(edges, 8, MPI_DOUBLE, (rank + 1) % ranks, 0, edges + 8, 8, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

HELPER double dot(const double *a, const double *b)
{
    return sum(a[0] * b[0]) + 1;
}

HELPER double solve(double *edges, double longer)
{
    exchange(edges);
    compute(rank == 0 ? 1 + longer : 1);
    double residual = dot(edges, edges + 8);
    compute(1);
    return residual + dot(edges, edges);
}

HELPER void smooth(double *edges)
{
    compute(0.2);
    exchange(edges);
    exchange(edges);
}

HELPER void cycle(double *edges, int level)
{
    smooth(edges);
    if (level > 0)
        cycle(edges, level - 1);
    smooth(edges);
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 20;
    double longer = argc > 2 ? atof(argv[2]) : 4;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double edges[16] = {1, 2};
    for (int i = 0; i < iterations; i++) {
        edges[0] = solve(edges, longer);
        cycle(edges, 2);
    }
    MPI_Finalize();
    return 0;
}
