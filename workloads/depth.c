/*
 * depth: a cheap call at the end of a call path, to measure what recording paths costs.
 *
 *     depth [CALLS=20000] [DEPTH=10] [PATHS=1]
 *
 * MPI_Comm_rank is called from DEPTH functions below main. With PATHS > 1 (at most 16) each call comes by another path than
 * the one before, at the same depth and the same place on the stack. Prints the least time per call of 40 batches of CALLS.
 *
 * Calls of each rank:  MPI_Init, MPI_Finalize: 1 each
 *                      MPI_Comm_rank 40 x CALLS + 1
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAME __attribute__((noinline)) static void
#define KEEP_FRAME __asm__ volatile("" ::: "memory")
enum { BATCHES = 40, MOST_PATHS = 16 };

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

FRAME call(long times)
{
    int rank;
    for (long i = 0; i < times; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    KEEP_FRAME;
}

FRAME down(long depth, long times)
{
    if (depth > 1)
        down(depth - 1, times);
    else
        call(times);
    KEEP_FRAME;
}

#define WAY(number)                                                                                                    \
    FRAME way##number(long depth, long times)                                                                          \
    {                                                                                                                  \
        down(depth, times);                                                                                            \
        KEEP_FRAME;                                                                                                    \
    }
WAY(0) WAY(1) WAY(2) WAY(3) WAY(4) WAY(5) WAY(6) WAY(7)
WAY(8) WAY(9) WAY(10) WAY(11) WAY(12) WAY(13) WAY(14) WAY(15)
static void (*const ways[MOST_PATHS])(long, long) = {
    way0, way1, way2, way3, way4, way5, way6, way7, way8, way9, way10, way11, way12, way13, way14, way15,
};

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 20000;
    long depth = argc > 2 ? atol(argv[2]) : 10;
    long paths = argc > 3 ? atol(argv[3]) : 1;
    if (calls < 1 || depth < 3 || paths < 1 || paths > MOST_PATHS) {
        fprintf(stderr, "usage: depth [CALLS] [DEPTH, at least 3] [PATHS, at most %d]\n", MOST_PATHS);
        return 2;
    }
    MPI_Init(&argc, &argv);
    double least_ns = 1e18;
    for (int batch = 0; batch < BATCHES; batch++) {
        double began = now_ns();
        if (paths == 1)
            ways[0](depth - 2, calls);
        else
            for (long i = 0; i < calls; i++)
                ways[i * 7 % paths](depth - 2, 1);
        double ns = (now_ns() - began) / (double)calls;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("depth %ld paths %ld ns_per_call %.1f\n", depth, paths, least_ns);
    MPI_Finalize();
    return 0;
}
