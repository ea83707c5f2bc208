/*
 * Counts how often each loop between MPI calls goes round, for whoever wants to
 * know how many of these rounds a skeleton counts.
 *
 * Linked with the whole program, which calls __kizami_round. When the process
 * ends it writes DIR/RANK.rounds, DIR from KIZAMI_ROUNDS: lines LOOP ROUNDS.
 */
enum { MOST_LOOPS = 65536 };

static unsigned long long rounds[MOST_LOOPS];

void __kizami_round(int loop)
{
    rounds[loop & (MOST_LOOPS - 1)]++;
}

static void write_notes(void)
{
    FILE *file = own_file("KIZAMI_ROUNDS", "rounds");
    if (!file)
        return;
    for (int loop = 0; loop < MOST_LOOPS; loop++)
        if (rounds[loop])
            fprintf(file, "%d %llu\n", loop, rounds[loop]);
    finish(file);
}
