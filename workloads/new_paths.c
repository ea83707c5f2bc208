/*
 * new_paths: one cheap call by each of 4,096 call paths, to measure what a path costs that was not met before.
 *
 *     new_paths
 *
 * MPI_Comm_rank is called from 12 functions below main, each of which is one of two. Prints the processor time of the calls
 * of the first round, in which all paths are new, and of a second one. Reading the clock is in it: some hundred nanoseconds.
 *
 * Calls of each rank:  MPI_Init, MPI_Finalize: 1 each
 *                      MPI_Comm_rank 2 x 4096
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAME __attribute__((noinline)) static void
enum { DEPTH = 12, PATHS = 1 << DEPTH };

typedef void (*step)(unsigned way, int depth);
FRAME left(unsigned way, int depth);
FRAME right(unsigned way, int depth);
static const step steps[2] = {left, right};
static double took_ns;

static double processor_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void go_on(unsigned way, int depth)
{
    if (depth > 0) {
        steps[way & 1](way >> 1, depth - 1);
        return;
    }
    int rank;
    double began = processor_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    took_ns = processor_ns() - began;
}

/* Neither call is the last thing a function does, and the functions are not the same. */
FRAME left(unsigned way, int depth)
{
    go_on(way, depth);
    __asm__ volatile("" ::: "memory");
}

FRAME right(unsigned way, int depth)
{
    go_on(way, depth);
    __asm__ volatile("nop" ::: "memory");
}

static int by_length(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

int main(int argc, char **argv)
{
    static double all[PATHS];
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 2; round++) {
        for (unsigned path = 0; path < PATHS; path++) {
            left(path, DEPTH);
            all[path] = took_ns;
        }
        qsort(all, PATHS, sizeof *all, by_length);
        printf("%s median_ns %.0f in_99_of_100_ns %.0f longest_ns %.0f\n", round == 0 ? "new" : "again", all[PATHS / 2],
               all[PATHS * 99 / 100], all[PATHS - 1]);
    }
    MPI_Finalize();
    return 0;
}
