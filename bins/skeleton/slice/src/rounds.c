/*
 * Counts how often each loop between MPI calls goes round, for whoever wants to
 * know how many of these rounds a skeleton counts.
 *
 * Linked with the whole program, which calls __kizami_round. When the process
 * ends it writes DIR/RANK.rounds, DIR from KIZAMI_ROUNDS: lines LOOP ROUNDS.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LOOPS = 65536 };

static unsigned long long rounds[MOST_LOOPS];
static int rank = -1;

void __kizami_round(int loop)
{
    rounds[loop & (MOST_LOOPS - 1)]++;
}

static void write_rounds(void)
{
    const char *folder = getenv("KIZAMI_ROUNDS");
    if (!folder || rank < 0)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.rounds", folder, rank);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return;
    }
    for (int loop = 0; loop < MOST_LOOPS; loop++)
        if (rounds[loop])
            fprintf(file, "%d %llu\n", loop, rounds[loop]);
    if (fclose(file) != 0)
        perror(path);
}

static void begin(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    atexit(write_rounds);
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    begin();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    begin();
    return result;
}

/* Fortran's entries, wherever the MPI keeps them. */
void pmpi_init_(int *error) __attribute__((weak));
void mpi_init_(int *error)
{
    pmpi_init_(error);
    begin();
}
