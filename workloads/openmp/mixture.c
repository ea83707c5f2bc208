/*
 * mixture: MPI between parallel regions of different kinds, with naps instead of work: a loop whose iterations are handed out
 * one by one, and tasks that need each other. Each has the same work with any number of threads.
 *
 *     mixture [ITERATIONS=20] [MICROSECONDS=1000]
 *
 * Meant for 2 ranks of 4 threads; any number of each will do. In each iteration, in units of MICROSECONDS:
 *
 *     a loop of 40 iterations, schedule(dynamic), each a nap of 0.2 to 1 units by chance; on odd ranks 1.5 times as long;
 *     MPI_Sendrecv of a number around the ring of ranks;
 *     a serial part of 2 units;
 *     a parallel region in which one thread makes 24 tasks, a nap of 0.5 units each, every one that of the next in one of 3
 *         chains: no more than 3 run at once, and 8 follow each other, 4 units in all;
 *     MPI_Allreduce.
 *
 * Naps are counted from where they begin, so that what the runtime needs in between adds up, as it does in programs that compute.
 *
 * Each rank: 1 + 2 x ITERATIONS parallel regions (the first only makes threads), 24 x ITERATIONS tasks. Checks what was passed
 * on and added up.
 */
#include "program.h"
#include <mpi.h>
#include <omp.h>

enum { PIECES = 40, CHAINS = 3, LINKS = 8 };

static void nap(double ns)
{
    nap_until(now_ns() + (int64_t)ns);
}

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long iterations = number(argc, argv, 1, 20, 1, 1000000);
    double unit_ns = 1e3 * (double)number(argc, argv, 2, 1000, 1, 10000000);
    double longer = rank % 2 == 0 ? 1.0 : 1.5;

    nap_exactly();
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    MPI_Barrier(MPI_COMM_WORLD);

    int wrong = 0;
    for (long iteration = 0; iteration < iterations; iteration++) {
        long mine = 0, theirs = 0, all = 0, chain[CHAINS] = {0};
#pragma omp parallel for schedule(dynamic) reduction(+ : mine)
        for (int i = 0; i < PIECES; i++) {
            nap(unit_ns * longer * (0.2 + 0.8 * chance(7, (uint64_t)i)));
            mine += i + rank;
        }
        MPI_Sendrecv(&mine, 1, MPI_LONG, (rank + 1) % ranks, 0, &theirs, 1, MPI_LONG, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        wrong |= theirs != PIECES * (PIECES - 1) / 2 + PIECES * (long)((rank + ranks - 1) % ranks);
        nap(2 * unit_ns);
#pragma omp parallel
#pragma omp single
        for (int link = 0; link < LINKS; link++)
            for (int i = 0; i < CHAINS; i++) {
                long *own = &chain[i];
#pragma omp task depend(inout : own[0]) firstprivate(own)
                {
                    nap(0.5 * unit_ns);
                    *own += 1;
                }
            }
        for (int i = 0; i < CHAINS; i++)
            wrong |= chain[i] != LINKS;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        wrong |= all != ranks * (PIECES * (PIECES - 1) / 2) + PIECES * (long)(ranks * (ranks - 1) / 2);
    }
    int any;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("mixture: %d ranks of %d threads, regions %ld a rank, tasks %ld a rank, %s\n", ranks, threads, 1 + 2 * iterations,
               (long)CHAINS * LINKS * iterations, any ? "wrong" : "right");
    MPI_Finalize();
    return any;
}
