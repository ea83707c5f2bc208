/* Threads: every rank puts its matrix together with one thread while the others idle, and one thread of one rank comes
 * late to its exchange.
 *
 * arguments: steps, putting together (us), work of each thread (us), additional work of the late thread (us)
 * disease: imbalance
 * blamed: 1
 * counted: later
 * flags: -fopenmp
 * run: 2 openmpi=2 args="60 3000 1000 2000"
 */
#include "truth.h"

#include <omp.h>

enum { THREADS = 4, LENGTH = 64 };

static void put_together(double us, bool in_parallel)
{
    if (in_parallel) {
#pragma omp parallel
        work_us(us / omp_get_num_threads());
    } else
        work_us(us);
}

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool fix = argc > 1 && strcmp(argv[1], "fix") == 0;
    struct truth truth = {fix ? FIX : SICK, rank, ranks, MPI_Wtime(), argc, argv};
    long steps = truth_number(&truth, 1, 60);
    double together_us = truth_number(&truth, 2, 3000), us = truth_number(&truth, 3, 1000);
    double late_us = fix ? 0 : truth_number(&truth, 4, 2000);
    omp_set_num_threads(THREADS);
    MPI_Comm of_thread[THREADS];
    for (MPI_Comm &communicator : of_thread)
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    for (long step = 0; step < steps; step++) {
        put_together(together_us, fix); /* place begin */
#pragma omp parallel
        {
            int thread = omp_get_thread_num();
            double out[LENGTH] = {0}, in[LENGTH];
            work_us(thread == 3 && rank == 1 ? us + late_us : us);
            MPI_Sendrecv(out, LENGTH, MPI_DOUBLE, (rank + 1) % ranks, thread, in, LENGTH, MPI_DOUBLE,
                         (rank + ranks - 1) % ranks, thread, of_thread[thread], MPI_STATUS_IGNORE); /* place end */
        }
        double mine = 1, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
