/*
 * wavefront: the longest common subsequence of two texts, tile by tile, each tile a task that depends on those above it and left
 * of it.
 *
 *     wavefront [TILES=12] [SIZE=64] [SEED=1]
 *
 * The table of TILES x TILES tiles of SIZE x SIZE letters is filled from its upper left corner: at first 1 tile can be
 * computed, then 2, and so on to TILES, and back to 1.
 *
 * One parallel region, TILES^2 tasks, each with depend in: 2 (also those at the border, whose neighbours nobody writes) and
 * out: 1. The longest chain has 2 TILES - 1 tasks.
 * Checks the length against the one that two rows give.
 */
#include "program.h"

static long tiles, size, side;
static const char *first, *second;
static int *table; /* (side + 1)^2: row 0 and column 0 are zeros */

static int longer(int a, int b)
{
    return a > b ? a : b;
}

static void fill(long tile_row, long tile_column)
{
    for (long i = tile_row * size + 1; i <= (tile_row + 1) * size; i++)
        for (long j = tile_column * size + 1; j <= (tile_column + 1) * size; j++) {
            const int *above = table + (i - 1) * (side + 1) + j;
            table[i * (side + 1) + j] =
                first[i - 1] == second[j - 1] ? above[-1] + 1 : longer(above[0], table[i * (side + 1) + j - 1]);
        }
}

static int plain(void)
{
    int *row = memory((size_t)(side + 1) * sizeof *row);
    for (long i = 0; i < side; i++) {
        int diagonal = 0;
        for (long j = 1; j <= side; j++) {
            int above = row[j];
            row[j] = first[i] == second[j - 1] ? diagonal + 1 : longer(above, row[j - 1]);
            diagonal = above;
        }
    }
    int length = row[side];
    free(row);
    return length;
}

int main(int argc, char **argv)
{
    tiles = number(argc, argv, 1, 12, 1, 1000);
    size = number(argc, argv, 2, 64, 1, 1000);
    uint64_t seed = (uint64_t)number(argc, argv, 3, 1, 0, INT32_MAX);
    side = tiles * size;
    char *texts = memory(2 * (size_t)side);
    for (long i = 0; i < 2 * side; i++)
        texts[i] = "ACGT"[(int)(4 * chance(seed, (uint64_t)i))];
    first = texts;
    second = texts + side;
    table = memory((size_t)(side + 1) * (size_t)(side + 1) * sizeof *table);
    /* What tasks depend on: one byte a tile, with a border above and left. */
    char *done = memory((size_t)(tiles + 1) * (size_t)(tiles + 1));
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < tiles; i++)
        for (long j = 0; j < tiles; j++) {
            char *above = done + i * (tiles + 1) + j + 1, *left = above + tiles, *own = left + 1;
#pragma omp task depend(in : *above, *left) depend(out : *own) firstprivate(i, j)
            fill(i, j);
            /* The compiler sees no other use of them. */
            (void)above, (void)left, (void)own;
        }
    int length = table[side * (side + 1) + side], wanted = plain();
    printf("wavefront: %d of %ld letters are common, regions 1, tasks %ld\n", length, side, tiles * tiles);
    free(done);
    free(table);
    free(texts);
    return length == wanted ? 0 : 1;
}
