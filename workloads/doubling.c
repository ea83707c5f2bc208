/*
 * doubling: local work and a sum over all ranks by recursive doubling, at a steady pace.
 *
 *     doubling [CALLS=10000] [CALLS_PER_SECOND=1300]
 *
 * Each round every rank sleeps until its next moment, then exchanges one number with the rank whose number
 * differs in bit 0, then bit 1, and so on: log2(P) calls of MPI_Sendrecv. P must be a power of two.
 *
 * Calls of each rank:
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *     MPI_Sendrecv: CALLS, rounded down to whole rounds (8 bytes, tag 3)
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG = 3 };

int main(int argc, char **argv)
{
    int rank, size, exchanges = 0;
    long calls = argc > 1 ? atol(argv[1]) : 10000;
    double pace = argc > 2 ? atof(argv[2]) : 1300.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << (exchanges + 1) <= size)
        exchanges++;
    if (1 << exchanges != size || exchanges == 0 || pace <= 0.0) {
        if (rank == 0)
            fprintf(stderr, "doubling: needs 2, 4, 8, ... ranks and a pace above 0\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    long step_ns = (long)(1e9 * exchanges / pace);
    long rounds = calls / exchanges;
    double sum = 0.0;
    for (long round = 0; round < rounds; round++) {
        next.tv_nsec += step_ns;
        while (next.tv_nsec >= 1000000000L) {
            next.tv_nsec -= 1000000000L;
            next.tv_sec++;
        }
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
            ;
        sum = 1.0;
        for (int bit = 0; bit < exchanges; bit++) {
            int partner = rank ^ (1 << bit);
            double other = 0.0;
            MPI_Sendrecv(&sum, 1, MPI_DOUBLE, partner, TAG, &other, 1, MPI_DOUBLE, partner, TAG,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += other;
        }
    }
    if (rank == 0)
        printf("doubling ranks %d rounds %ld sum %g\n", size, rounds, sum);
    int wrong = rounds > 0 && sum != (double)size;
    MPI_Finalize();
    return wrong;
}
