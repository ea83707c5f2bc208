/*
 * Notes the values of places that depend on data, for `kizami skeleton observe`.
 *
 * Linked with the whole program, which calls __kizami_note. When the process
 * ends it writes DIR/RANK.values, DIR from KIZAMI_OBSERVED:
 *
 *     kizami-observed 1 RANK RANKS
 *     ORACLE VALUE TIMES          runs of equal values, in order for each oracle
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    long long value;
    unsigned long long times;
};

struct place {
    struct run *runs;
    size_t count, room;
};

static struct place *places;
static int place_count;
static int rank = -1, ranks;

void __kizami_note(int oracle, long long value)
{
    if (oracle >= place_count) {
        places = realloc(places, (oracle + 1) * sizeof *places);
        memset(places + place_count, 0, (oracle + 1 - place_count) * sizeof *places);
        place_count = oracle + 1;
    }
    struct place *place = &places[oracle];
    if (place->count && place->runs[place->count - 1].value == value) {
        place->runs[place->count - 1].times++;
        return;
    }
    if (place->count == place->room) {
        place->room = place->room ? 2 * place->room : 16;
        place->runs = realloc(place->runs, place->room * sizeof *place->runs);
    }
    place->runs[place->count++] = (struct run){value, 1};
}

static void write_values(void)
{
    const char *folder = getenv("KIZAMI_OBSERVED");
    if (!folder || rank < 0)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.values", folder, rank);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return;
    }
    fprintf(file, "kizami-observed 1 %d %d\n", rank, ranks);
    for (int oracle = 0; oracle < place_count; oracle++)
        for (size_t i = 0; i < places[oracle].count; i++)
            fprintf(file, "%d %lld %llu\n", oracle, places[oracle].runs[i].value, places[oracle].runs[i].times);
    if (fclose(file) != 0)
        perror(path);
}

static void begin(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    atexit(write_values);
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
