/* What all programs of this folder share: modes, numbers of the command line, work, chance, and the time it took.
 *
 * Work is a sleep: it takes no core, so ranks do not disturb each other however few cores there are, and under SimGrid,
 * whose compiler replaces nanosleep, it is simulated time and exact.
 *
 * No MPI call of the loop that is measured is made here. */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* SICK has the disease; FIX is without it; BALANCE does all of the sick run's work, the same on each rank. */
enum truth_mode { SICK, FIX, BALANCE };

struct truth {
    enum truth_mode mode;
    int rank, ranks;
    double began;
    int arguments;
    char **argument;
};

static inline struct truth truth_begin(int argc, char **argv)
{
    struct truth truth = {SICK, 0, 0, 0, argc, argv};
    const char *mode = argc > 1 ? argv[1] : "sick";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &truth.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &truth.ranks);
    if (strcmp(mode, "fix") == 0)
        truth.mode = FIX;
    else if (strcmp(mode, "balance") == 0)
        truth.mode = BALANCE;
    else if (strcmp(mode, "sick") != 0) {
        fprintf(stderr, "%s: the first argument is sick, fix or balance, not %s\n", argv[0], mode);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    truth.began = MPI_Wtime();
    return truth;
}

/* The number that follows the mode, or the one after it, and so on. */
static inline long truth_number(const struct truth *truth, int which, long otherwise)
{
    return truth->arguments > which + 1 ? strtol(truth->argument[which + 1], NULL, 10) : otherwise;
}

/* The longest of these lines is the time of the run. */
static inline void truth_end(const struct truth *truth)
{
    printf("loop %.9f\n", MPI_Wtime() - truth->began);
    fflush(stdout);
    MPI_Finalize();
}

static inline void work_us(double us)
{
    if (us <= 0)
        return;
    struct timespec length = {(time_t)(us / 1e6), (long)((us - 1e6 * (double)(long)(us / 1e6)) * 1e3)};
    nanosleep(&length, NULL);
}

/* From 0 to 1, the same on every rank and machine for the same three numbers. */
static inline double chance(uint64_t seed, uint64_t step, uint64_t which)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + step * 0xbf58476d1ce4e5b9u + which * 0x94d049bb133111ebu;
    for (int round = 0; round < 3; round++) {
        x ^= x >> 31;
        x *= 0xd6e8feb86659fd93u;
    }
    return (double)(x >> 11) / 9007199254740992.0;
}

#endif
