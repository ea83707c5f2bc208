/*
 * spin_exchange: a stencil or a conjugate-gradient solver whose computation is
 * a spin, so that the time it takes is known whatever else the machine does.
 *
 *     spin_exchange [halo|reduce] [ITERATIONS=5000] [COMPUTE_US=180]
 *                   [IMBALANCE_US=20] [BYTES=1024]
 *
 * In each iteration a rank spins until COMPUTE_US microseconds of a monotonic
 * clock have passed in all, and IMBALANCE_US more on one rank in turn, so that
 * somebody is waited for. In between it makes eight MPI calls:
 *     halo     exchanges BYTES with both neighbours on a ring (MPI_Irecv,
 *              MPI_Isend, 2 each; MPI_Waitall 2) and MPI_Allreduce 2 (8 bytes)
 *     reduce   MPI_Allreduce 8 (8 bytes)
 * Tag 0 travels to the right, tag 1 to the left.
 *
 * Prints: spin_exchange halo iterations N seconds S median_us M, where S is the
 * time from the only MPI_Barrier to the last MPI_Allreduce on rank 0, and M the
 * median of its iterations: on a machine with other work to do, most iterations
 * are still left alone.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, bytes;
static double compute, imbalance;
static char *out[2], *in[2];

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void spin(double microseconds)
{
    double deadline = seconds() + 1e-6 * microseconds;
    while (seconds() < deadline)
        ;
}

/* The sum over all ranks of their numbers. */
static double agree(void)
{
    double mine = rank, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double halo(double extra)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request[4];
    MPI_Irecv(in[0], bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in[1], bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(out[0], bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(out[1], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &request[3]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    spin(compute / 2);
    MPI_Waitall(2, request + 2, MPI_STATUSES_IGNORE);
    agree();
    spin(compute / 2 + extra);
    return agree();
}

static double reduce(double extra)
{
    double all = 0;
    for (int part = 0; part < 8; part++) {
        spin(compute / 8 + (part == 3 ? extra : 0));
        all = agree();
    }
    return all;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *mode = argc > 1 ? argv[1] : "halo";
    int iterations = argc > 2 ? atoi(argv[2]) : 5000;
    compute = argc > 3 ? atof(argv[3]) : 180;
    imbalance = argc > 4 ? atof(argv[4]) : 20;
    bytes = argc > 5 ? atoi(argv[5]) : 1024;
    for (int side = 0; side < 2; side++) {
        out[side] = calloc(bytes, 1);
        in[side] = calloc(bytes, 1);
    }

    double *took = calloc(iterations + 1, sizeof *took);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = seconds(), last = start;
    int wrong = 0;
    for (int i = 0; i < iterations; i++) {
        double extra = i % size == rank ? imbalance : 0;
        double all = strcmp(mode, "reduce") == 0 ? reduce(extra) : halo(extra);
        wrong |= all != size * (size - 1) / 2.0;
        double now = seconds();
        took[i] = now - last;
        last = now;
    }
    qsort(took, iterations, sizeof *took, by_size);
    if (wrong)
        fprintf(stderr, "spin_exchange: rank %d: the sum is wrong\n", rank);
    else if (rank == 0)
        printf("spin_exchange %s iterations %d seconds %.6f median_us %.3f\n", mode, iterations,
               last - start, 1e6 * took[iterations / 2]);
    free(took);
    for (int side = 0; side < 2; side++) {
        free(out[side]);
        free(in[side]);
    }
    MPI_Finalize();
    return wrong;
}
