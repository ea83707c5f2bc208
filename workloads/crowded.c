/*
 * crowded: computation and sums over all ranks, and how long each rank had no core by the kernel's own count.
 *
 *     crowded [ITERATIONS=100] [WORK=200000]
 *
 * Meant for more ranks than cores. WORK is a number of multiplications, so that a rank without a core computes later, not
 * less. Each rank prints by how much the second number of /proc/thread-self/schedstat grew between MPI_Init and
 * MPI_Finalize: nanoseconds in which it could have run.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *                      MPI_Allreduce ITERATIONS (1 double each)
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long long without_core_ns(void)
{
    long long running = 0, waiting = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file == NULL || fscanf(file, "%lld %lld", &running, &waiting) != 2) {
        fprintf(stderr, "crowded: this kernel does not count how long threads have no core\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    fclose(file);
    return waiting;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    long long before = without_core_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long iterations = argc > 1 ? atol(argv[1]) : 100;
    long work = argc > 2 ? atol(argv[2]) : 200000;

    double value = 1, sum = 0, total = 0;
    int wrong = 0;
    for (long i = 0; i < iterations; i++) {
        for (long step = 0; step < work; step++)
            value = value * 0.999999 + 1e-6;
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        total += sum;
        wrong |= sum < 0.999 * size || sum > 1.001 * size;
    }
    printf("rank %d waited_ns %lld\n", rank, without_core_ns() - before);
    if (rank == 0)
        printf("crowded ranks %d iterations %ld mean %.6f\n", size, iterations,
               iterations ? total / (double)iterations / size : 1.0);
    MPI_Finalize();
    return wrong;
}
