/*
 * scaling: programs whose calls and work follow the number of ranks, to foretell runs with more ranks from runs with
 * fewer.
 *
 *     scaling SHAPE [N] [ITERATIONS=20] [NOISE=0]
 *
 *     matmul     N x N matrix product by shifting blocks around a ring, as matmul_shift does    (N=1024)
 *     cg         conjugate gradients: a sparse exchange and two sums in each iteration          (N=256000 rows)
 *     sort       radix sort of N keys: counts, prefix sums, and all keys to others              (N=1048576)
 *     stencil    N x N plate in blocks: borders to four neighbours, and a sum                   (N=2048)
 *     butterfly  partners at distances 1, 2, 4, ... exchange N doubles                          (N=4096)
 *     line       blocks of N points on a line: borders to both neighbours, ends have one        (N=1000000)
 *
 * Work is a sleep: 1 ns for each operation there would be. It takes no core, and under SimGrid, whose compiler replaces
 * nanosleep, it is simulated time and exact. NOISE makes each piece of work longer by a random share: 0.3 by 30 % on
 * average, exponentially spread, the same in every run of as many ranks.
 *
 * Rank 0 prints how long the loop took, from a barrier on.
 */
#include "truth/truth.h"

#include <math.h>

static int rank, ranks, iterations;
static long size;
static double noise;
static uint64_t pieces;

static void work(double operations)
{
    double longer = 1 - noise * log(1 - 0.999999 * chance(7, (uint64_t)rank, pieces++));
    work_us(operations * longer / 1e3);
}

static void matmul(void)
{
    long rows = size / ranks;
    long block = rows * size;
    double *b = calloc((size_t)block, sizeof *b);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int step = 0; step < ranks; step++) {
        work(2.0 * (double)rows * (double)block);
        if (step + 1 < ranks)
            MPI_Sendrecv_replace(b, (int)block, MPI_DOUBLE, left, 11, right, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double sum = 0, total;
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    free(b);
}

static double sum_of_all(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void cg(void)
{
    /* The matrix couples a row with those 1 and 2/5 of all rows away: most of what is needed is two ranks' rows. */
    long rows = size / ranks;
    int *counts = calloc((size_t)ranks, sizeof *counts), *starts = calloc((size_t)ranks, sizeof *starts);
    int far = 2 * ranks / 5;
    counts[(rank + 1) % ranks] = counts[(rank + ranks - 1) % ranks] = 1;
    counts[(rank + far) % ranks] = counts[(rank + ranks - far) % ranks] = (int)rows;
    counts[rank] = 0;
    for (int other = 1; other < ranks; other++)
        starts[other] = starts[other - 1] + counts[other - 1];
    long moved = starts[ranks - 1] + counts[ranks - 1];
    double *give = calloc((size_t)moved + 1, sizeof *give), *take = calloc((size_t)moved + 1, sizeof *take);
    for (int iteration = 0; iteration < iterations; iteration++) {
        MPI_Alltoallv(give, counts, starts, MPI_DOUBLE, take, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
        work(180.0 * (double)rows);
        sum_of_all(1);
        work(80.0 * (double)rows);
        sum_of_all(2);
    }
    free(counts), free(starts), free(give), free(take);
}

static void sort(void)
{
    enum { DIGITS = 256 };
    long keys = size / ranks;
    int *counts = malloc((size_t)ranks * sizeof *counts), *starts = malloc((size_t)ranks * sizeof *starts);
    int *theirs = malloc((size_t)ranks * sizeof *theirs), digits[DIGITS] = {0}, below[DIGITS];
    int64_t *out = calloc((size_t)(keys + ranks), sizeof *out), *in = calloc((size_t)(keys + ranks), sizeof *in);
    for (int other = 0; other < ranks; other++) {
        counts[other] = (int)(keys / ranks);
        starts[other] = other * counts[other];
    }
    for (int pass = 0; pass < 4; pass++) {
        work(40.0 * (double)keys);
        MPI_Exscan(digits, below, DIGITS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(digits, DIGITS, MPI_INT, ranks - 1, MPI_COMM_WORLD);
        work(160.0 * (double)keys + 512);
        MPI_Alltoall(counts, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Alltoallv(out, counts, starts, MPI_INT64_T, in, counts, starts, MPI_INT64_T, MPI_COMM_WORLD);
        work(60.0 * (double)keys);
    }
    sum_of_all(1);
    free(counts), free(starts), free(theirs), free(out), free(in);
}

static void stencil(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, neighbour[4];
    MPI_Comm plate;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &plate);
    MPI_Cart_shift(plate, 0, 1, &neighbour[0], &neighbour[1]);
    MPI_Cart_shift(plate, 1, 1, &neighbour[2], &neighbour[3]);
    long high = size / dims[0], wide = size / dims[1];
    double *border = calloc((size_t)(8 * (high + wide)), sizeof *border);
    for (int iteration = 0; iteration < iterations; iteration++) {
        MPI_Request requests[8];
        for (int side = 0; side < 8; side++) {
            int count = (int)(side % 4 < 2 ? wide : high);
            double *at = border + side * (high + wide);
            if (side < 4)
                MPI_Irecv(at, count, MPI_DOUBLE, neighbour[side], side ^ 1, plate, &requests[side]);
            else
                MPI_Isend(at, count, MPI_DOUBLE, neighbour[side - 4], side - 4, plate, &requests[side]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        work(10.0 * (double)high * (double)wide);
        double change = 1, largest;
        MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, plate);
    }
    free(border);
    MPI_Comm_free(&plate);
}

static void butterfly(void)
{
    double *data = calloc((size_t)size, sizeof *data), *other = calloc((size_t)size, sizeof *other);
    for (int iteration = 0; iteration < iterations; iteration++) {
        work(1e9 / ranks / iterations);
        for (int distance = 1; distance < ranks; distance *= 2)
            MPI_Sendrecv(data, (int)size, MPI_DOUBLE, rank ^ distance, 1, other, (int)size, MPI_DOUBLE,
                         rank ^ distance, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(data), free(other);
}

static void line(void)
{
    double border[2] = {0, 0};
    for (int iteration = 0; iteration < iterations; iteration++) {
        work(50.0 * (double)size / ranks);
        /* Up the line and down again; those at the ends have one neighbour. */
        if (rank + 1 < ranks)
            MPI_Send(&border[0], 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
        if (rank > 0)
            MPI_Recv(&border[1], 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank > 0)
            MPI_Send(&border[0], 1, MPI_DOUBLE, rank - 1, 2, MPI_COMM_WORLD);
        if (rank + 1 < ranks)
            MPI_Recv(&border[1], 1, MPI_DOUBLE, rank + 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    sum_of_all(border[1]);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
        long size;
    } shapes[] = {{"matmul", matmul, 1024}, {"cg", cg, 256000},          {"sort", sort, 1048576},
                  {"stencil", stencil, 2048}, {"butterfly", butterfly, 4096}, {"line", line, 1000000}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        if (argc > 1 && strcmp(argv[1], shapes[shape].name) == 0) {
            size = argc > 2 && atol(argv[2]) > 0 ? atol(argv[2]) : shapes[shape].size;
            iterations = argc > 3 ? atoi(argv[3]) : 20;
            noise = argc > 4 ? atof(argv[4]) : 0;
            MPI_Barrier(MPI_COMM_WORLD);
            double began = MPI_Wtime();
            shapes[shape].run();
            double took = MPI_Wtime() - began, longest;
            MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (rank == 0)
                printf("loop %.9f\n", longest);
            MPI_Finalize();
            return 0;
        }
    if (rank == 0)
        fprintf(stderr, "scaling: say matmul, cg, sort, stencil, butterfly or line\n");
    MPI_Finalize();
    return 2;
}
