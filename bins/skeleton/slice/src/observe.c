/*
 * Notes the values of places that depend on data, for `kizami skeleton observe`.
 *
 * Linked with the whole program, which calls __kizami_note. When the process
 * ends it writes DIR/RANK.values, DIR from KIZAMI_OBSERVED:
 *
 *     kizami-observed 1 RANK RANKS
 *     ORACLE VALUE TIMES          runs of equal values, in order for each oracle
 */
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

static void write_notes(void)
{
    FILE *file = own_file("KIZAMI_OBSERVED", "values");
    if (!file)
        return;
    fprintf(file, "kizami-observed 1 %d %d\n", rank, ranks);
    for (int oracle = 0; oracle < place_count; oracle++)
        for (size_t i = 0; i < places[oracle].count; i++)
            fprintf(file, "%d %lld %llu\n", oracle, places[oracle].runs[i].value, places[oracle].runs[i].times);
    finish(file);
}
