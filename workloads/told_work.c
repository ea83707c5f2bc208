/*
 * told_work: ranks sort their share of the keys, and tell by kizami.h how many comparisons that takes.
 *
 *     told_work [KEYS=256] [ITERATIONS=10] [TELL=1] [MICROSECONDS=100]
 *
 * Each of the ranks has n = KEYS / ranks keys, and sorting them takes n log2 n comparisons. Keys are long: a comparison
 * is a sleep of MICROSECONDS, which takes no core. With more ranks the work shrinks faster than by the number of ranks, and by
 * no power of it, so that it is hard to foretell from times; from the counts it is not.
 *
 * Each rank calls, in each iteration: MPI_Pcontrol 1 time if it tells, MPI_Allreduce 1 time. Besides: MPI_Barrier 1 time.
 * Checks that all comparisons of all ranks are what they should be.
 */
#include "kizami.h"
#include "truth/truth.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long keys = (argc > 1 ? atol(argv[1]) : 256) / ranks;
    int iterations = argc > 2 ? atoi(argv[2]) : 10, tell = argc > 3 ? atoi(argv[3]) : 1;
    double each_us = argc > 4 ? atof(argv[4]) : 100;
    long long comparisons = 0;
    for (long part = 1; part < keys; part *= 2)
        comparisons += keys;
    MPI_Barrier(MPI_COMM_WORLD);
    long long all = 0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        work_us(each_us * (double)comparisons);
        if (tell)
            KIZAMI_COUNT("comparisons", comparisons);
        MPI_Allreduce(&comparisons, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    if (iterations > 0 && all != comparisons * ranks) {
        fprintf(stderr, "rank %d: %lld comparisons, not %lld\n", rank, all, comparisons * ranks);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
