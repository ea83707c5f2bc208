/*
 * hybrid: MPI and OpenMP, with naps instead of work, so that threads are useful for exactly a known share of the time.
 *
 *     hybrid [ITERATIONS=20] [MICROSECONDS=2000] [SHARES=uneven] [PIECES=0]
 *
 * Meant for 2 ranks of 4 threads; more pairs of ranks have the same shares. In each iteration, in units of MICROSECONDS:
 *
 *     a parallel region of 4 units on even ranks, of 7 on odd ones: thread t of n naps for (t + 1) / n of it, then waits at the
 *         end of a loop with one iteration a thread, which is imbalanced;
 *     a serial part of 1.25 units: the master naps, the other threads have nothing to do;
 *     MPI_Allreduce by the master: even ranks wait in it for 3 units, with all their threads.
 *
 * An iteration takes 7 + 1.25 = 8.25 units: 8 threads have 66 units of time. With 4 threads,
 *
 *     useful          30      regions (4 + 7) x (1 + 2 + 3 + 4) / 4 = 27.5, serial parts 2 x 1.25 = 2.5
 *     imbalance       16.5    regions 4 x (4 + 7) = 44, less 27.5
 *     serial part      7.5    2 ranks x 3 threads x 1.25
 *     in MPI           3      the master of the even rank; processes are outside MPI for 13.5 of 2 x 8.25 units: 81.8 %
 *     idle then        9      its 3 other threads
 *
 * so that threads are useful for 30 / 66 = 45.5 % of all time, and for 27.5 / 44 = 62.5 % of the time of parallel regions
 * ((n + 1) / 2 n with n threads). Of the time outside MPI it is 30 / 54 = 55.6 %; 81.8 % x 55.6 % = 45.5 %.
 *
 * With SHARES even, all iterations of the loop nap equally long and have the same work together: the region takes 62.5 % of its
 * time. With PIECES, the loop has so many iterations whatever the number of threads, and the work that 4 threads have otherwise,
 * 10 and 17.5 units; static shares of it are handed out. So the same work can be run with other numbers of threads.
 *
 * Naps of an iteration end at deadlines counted from its beginning: what the runtime needs in between does not add up.
 *
 * Each rank: 1 + ITERATIONS parallel regions (the first only makes threads), no tasks. MPI_Allreduce ITERATIONS + 3 times,
 * MPI_Barrier 1 time. Prints the shares as they follow from the naps, and as the threads' own clocks say; where MPI waits
 * actively on few cores, these are a bit lower. Checks the sums of all ranks, and that no iteration was shorter than its naps.
 */
#include "program.h"
#include <mpi.h>
#include <omp.h>

/* Of one rank, all threads together: as clocks say, and as naps do. */
enum { USEFUL, OF_REGIONS, REGIONS, ALL, NAPS, LONGEST, SHARES };

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long iterations = number(argc, argv, 1, 20, 1, 1000000);
    double unit_ns = 1e3 * (double)number(argc, argv, 2, 2000, 1, 10000000);
    int even = argc > 3 && strcmp(argv[3], "even") == 0;
    if (argc > 3 && !even && strcmp(argv[3], "uneven") != 0) {
        fprintf(stderr, "%s: argument 3 is even or uneven, not %s\n", argv[0], argv[3]);
        exit(2);
    }
    int pieces = (int)number(argc, argv, 4, 0, 0, 100000);
    double region = (rank % 2 == 0 ? 4 : 7) * unit_ns, serial = 1.25 * unit_ns;

    nap_exactly();
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    MPI_Barrier(MPI_COMM_WORLD);

    double work = region * (pieces > 0 ? 4 + 1 : threads + 1) / 2;
    if (pieces == 0)
        pieces = threads;
    double share[SHARES] = {0};
    share[NAPS] = work;
    long sum = 0, wanted = 0;
    int64_t began = now_ns();
    for (long iteration = 0; iteration < iterations; iteration++) {
        int64_t begin = now_ns(), useful = 0, last = begin;
        long mine = 0, all = 0;
#pragma omp parallel reduction(+ : mine, useful) reduction(max : last)
        {
            double until = (double)begin;
#pragma omp for schedule(static)
            for (int i = 0; i < pieces; i++) {
                int64_t woke = now_ns();
                until += work * (even ? 1.0 / pieces : 2.0 * (i + 1) / ((double)pieces * (pieces + 1)));
                nap_until((int64_t)until);
                useful += now_ns() - woke;
                mine += (rank + 1) * (i + 1) + iteration;
            }
            last = (int64_t)until;
        }
        int64_t end = now_ns();
        share[LONGEST] = (double)(last - begin);
        share[OF_REGIONS] += (double)useful;
        share[REGIONS] += (double)(end - begin) * threads;
        nap_until(last + (int64_t)serial);
        share[USEFUL] += (double)useful + (double)(now_ns() - end);
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        wanted += (long)ranks * (ranks + 1) / 2 * pieces * (pieces + 1) / 2 + iteration * ranks * pieces;
    }
    share[ALL] = (double)(now_ns() - began) * threads;

    double total[SHARES], longest;
    int wrong = sum != wanted || share[ALL] < (double)(iterations * threads) * (share[LONGEST] + serial - 2), any;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(share, total, SHARES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&share[LONGEST], &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("hybrid: %d ranks of %d threads, sum %ld, by naps useful %.1f %% of all time, %.1f %% of regions, by clocks %.1f %%, "
               "%.1f %%, regions %ld a rank, tasks 0\n",
               ranks, threads, sum, 100 * (total[NAPS] + serial * ranks) / (threads * ranks * (longest + serial)),
               100 * total[NAPS] / (threads * total[LONGEST]), 100 * total[USEFUL] / total[ALL],
               100 * total[OF_REGIONS] / total[REGIONS], 1 + iterations);
    }
    MPI_Finalize();
    return any;
}
