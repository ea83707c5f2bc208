/*
 * registration: an imbalanced program of many steps, each ended by a barrier,
 * as image registration is; and as many cheap MPI calls between them as wanted.
 *
 *     registration [STEPS=520] [MEAN_US=1000] [CALLS=0] [spin|work] [FILE]
 *
 * In each step a rank computes for a time of its own, between half and one and a
 * half times MEAN_US, that depends on nothing but step and rank. In between it
 * makes CALLS cheap calls (MPI_Comm_rank), in ten bursts. With `spin` computing
 * is waiting until a monotonic clock has moved on so far, so its time is known
 * whatever the machine does; with `work` it is a sum whose length was measured
 * at the start. FILE.RANK gets the time of each barrier in ns, one a line, as
 * the program itself sees it.
 *
 * Calls of each rank: MPI_Init, MPI_Comm_size, MPI_Finalize: 1 each
 *                     MPI_Barrier STEPS + 1, MPI_Comm_rank 1 + STEPS x CALLS
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BURSTS = 10 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void spin(int64_t ns)
{
    for (int64_t end = now_ns() + ns; now_ns() < end;)
        ;
}

static volatile double sink;

static void work(int64_t terms)
{
    double sum = 0;
    for (int64_t i = 1; i <= terms; i++)
        sum += sqrt((double)i);
    sink = sum;
}

/* Terms of the sum that take a microsecond: the fastest of some tries. */
static double terms_per_us(void)
{
    const int64_t terms = 1000000;
    int64_t fastest = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t start = now_ns();
        work(terms);
        int64_t took = now_ns() - start;
        if (took < fastest)
            fastest = took;
    }
    return terms * 1e3 / (double)fastest;
}

/* The same number for the same step and rank in every run, from 0 to 1. */
static double share(uint64_t step, uint64_t rank)
{
    uint64_t x = step * UINT64_C(0x9e3779b97f4a7c15) + rank * UINT64_C(0xbf58476d1ce4e5b9) + 1;
    x = (x ^ (x >> 30)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (double)(x >> 11) / (double)(UINT64_C(1) << 53);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 520;
    double mean_us = argc > 2 ? atof(argv[2]) : 1000;
    long calls = argc > 3 ? atol(argv[3]) : 0;
    int spins = argc <= 4 || strcmp(argv[4], "work") != 0;
    double rate = spins ? 0 : terms_per_us();
    int64_t *barrier_ns = calloc((size_t)steps, sizeof *barrier_ns);

    MPI_Barrier(MPI_COMM_WORLD);
    int64_t start = now_ns();
    for (int step = 0; step < steps; step++) {
        double us = mean_us * (0.5 + share((uint64_t)step, (uint64_t)rank)) / BURSTS;
        for (int burst = 0; burst < BURSTS; burst++) {
            long last = calls * (burst + 1) / BURSTS;
            for (long call = calls * burst / BURSTS; call < last; call++) {
                int again;
                MPI_Comm_rank(MPI_COMM_WORLD, &again);
            }
            if (spins)
                spin((int64_t)(us * 1e3));
            else
                work((int64_t)(us * rate));
        }
        int64_t before = now_ns();
        MPI_Barrier(MPI_COMM_WORLD);
        barrier_ns[step] = now_ns() - before;
    }
    double seconds = (double)(now_ns() - start) / 1e9;

    if (argc > 5) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[5], rank);
        FILE *file = fopen(name, "w");
        for (int step = 0; file && step < steps; step++)
            fprintf(file, "%lld\n", (long long)barrier_ns[step]);
        if (!file || fclose(file) != 0)
            fprintf(stderr, "registration: rank %d cannot write %s\n", rank, name);
    }
    if (rank == 0)
        printf("registration ranks %d steps %d mean_us %g calls %ld seconds %.6f\n", size, steps,
               mean_us, calls, seconds);
    free(barrier_ns);
    MPI_Finalize();
    return 0;
}
