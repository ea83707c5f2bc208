/*
 * rows: computations whose loops follow the number of ranks, to foretell runs with more ranks from what loops count.
 *
 *     rows SHAPE [N] [ITERATIONS=10] [NOISE=0]
 *
 *     plate      N x N points in blocks: borders to four neighbours, and the largest change   (N=4096)
 *     triangle   N rows dealt out in bands, of which each is as long as its number: the last
 *                rank has most to do; every tenth iteration a sum                            (N=4096)
 *     transpose  N x N points in bands of rows: a pass over rows, all blocks to all others,
 *                a pass over columns                                                         (N=2048)
 *
 * A tile of 64 points is a sleep of 2 us: work takes no core, and under SimGrid, whose compiler replaces nanosleep, it is
 * simulated time and exact. NOISE makes each tile longer by a random share, the same in every run of as many ranks.
 *
 * Rank 0 prints how long the loop took, from a barrier on.
 */
#include "truth/truth.h"

#include <math.h>

enum { TILE = 64 };

static int rank, ranks, iterations;
static long size;
static double noise;
static uint64_t tiles;

static void tile(void)
{
    double longer = noise > 0 ? 1 - noise * log(1 - 0.999999 * chance(7, (uint64_t)rank, tiles++)) : 1;
    work_us(2 * longer);
}

/* From which of all rows on a rank has its own. */
static long first(int of)
{
    return size * of / ranks;
}

static void block(long rows, long columns)
{
    for (long row = 0; row < rows; row++)
        for (long column = 0; column < columns; column += TILE)
            tile();
}

static void plate(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, here[2], up, down, left, right;
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, here);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    long rows = size * (here[0] + 1) / dims[0] - size * here[0] / dims[0];
    long columns = size * (here[1] + 1) / dims[1] - size * here[1] / dims[1];
    long border = rows > columns ? rows : columns;
    double *out = calloc((size_t)(4 * border), sizeof *out), *in = calloc((size_t)(4 * border), sizeof *in);
    int others[4] = {up, down, left, right};
    for (int iteration = 0; iteration < iterations; iteration++) {
        MPI_Request requests[8];
        for (int side = 0; side < 4; side++) {
            int count = (int)(side < 2 ? columns : rows);
            MPI_Irecv(in + side * border, count, MPI_DOUBLE, others[side], side ^ 1, grid, &requests[side]);
            MPI_Isend(out + side * border, count, MPI_DOUBLE, others[side], side, grid, &requests[4 + side]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        block(rows, columns);
        double change = rank, most;
        MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    free(in);
    free(out);
    MPI_Comm_free(&grid);
}

static void triangle(void)
{
    for (int iteration = 0; iteration < iterations; iteration++) {
        for (long row = first(rank); row < first(rank + 1); row++)
            for (long column = 0; column <= row; column += TILE)
                tile();
        double mine = rank, next;
        int after = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, after, 3, &next, 1, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (iteration % 10 == 9)
            MPI_Allreduce(&mine, &next, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void transpose(void)
{
    long rows = size / ranks;
    double *out = calloc((size_t)(rows * size), sizeof *out), *in = calloc((size_t)(rows * size), sizeof *in);
    for (int iteration = 0; iteration < iterations; iteration++) {
        block(rows, size);
        MPI_Alltoall(out, (int)(rows * rows), MPI_DOUBLE, in, (int)(rows * rows), MPI_DOUBLE, MPI_COMM_WORLD);
        block(rows, size);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *shape = argc > 1 ? argv[1] : "plate";
    size = argc > 2 ? atol(argv[2]) : 0;
    iterations = argc > 3 ? atoi(argv[3]) : 10;
    noise = argc > 4 ? atof(argv[4]) : 0;
    int is_transpose = strcmp(shape, "transpose") == 0;
    size = size > 0 ? size : is_transpose ? 2048 : 4096;

    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (is_transpose)
        transpose();
    else if (strcmp(shape, "triangle") == 0)
        triangle();
    else
        plate();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("loop %.9f\n", MPI_Wtime() - began);
    MPI_Finalize();
    return 0;
}
