/*
 * small_accesses: the smallest calls on a file, many times over. A benchmark of
 * what a tracer adds to them.
 *
 *     small_accesses [CALLS=200000] [BATCHES=401]
 *
 * Prints for each kind of call the nanoseconds of processor time that one takes
 * on rank 0, as the median over the batches. Files are small_accesses.RANK.*
 * in the current directory and deleted at the end.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Finalize: 1 each
 *                      of each kind BATCHES x (CALLS / BATCHES)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int rank, file, null;
static FILE *stream;
static char path[2][64];

/* Of this thread alone: other programs on the machine do not count. */
static double nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * t.tv_sec + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int do_write(void)
{
    return write(file, "12345678", 8) == 8;
}

static int do_pread(void)
{
    char place[8];
    return pread(file, place, 8, 0) == 8;
}

static int do_fwrite(void)
{
    return fwrite("12345678", 8, 1, stream) == 1;
}

static int do_fprintf(void)
{
    return fprintf(stream, "%7d\n", rank) == 8;
}

static int do_open_close(void)
{
    return close(open(path[0], O_RDONLY)) == 0;
}

static int do_null(void)
{
    return write(null, "12345678", 8) == 8;
}

static void measure(const char *name, int (*call)(void), int calls, int batches)
{
    double *cost = malloc(batches * sizeof *cost);
    int good = 1;
    for (int b = 0; b < batches; b++) {
        double start = nanoseconds();
        for (int i = 0; i < calls / batches; i++)
            good &= call();
        cost[b] = (nanoseconds() - start) / (calls / batches);
        lseek(file, 0, SEEK_SET);
        rewind(stream);
    }
    qsort(cost, batches, sizeof *cost, by_value);
    if (!good) {
        fprintf(stderr, "small_accesses: %s failed\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        printf("%s %.1f\n", name, cost[batches / 2]);
    free(cost);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int calls = argc > 1 ? atoi(argv[1]) : 200000, batches = argc > 2 ? atoi(argv[2]) : 401;
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "small_accesses.%d.%d", rank, i);
    file = open(path[0], O_CREAT | O_TRUNC | O_RDWR, 0600);
    null = open("/dev/null", O_WRONLY);
    stream = fopen(path[1], "w+");
    if (file < 0 || null < 0 || stream == NULL) {
        fprintf(stderr, "small_accesses: cannot open %s\n", path[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measure("write", do_write, calls, batches);
    measure("pread", do_pread, calls, batches);
    measure("fwrite", do_fwrite, calls, batches);
    measure("fprintf", do_fprintf, calls, batches);
    measure("open_close", do_open_close, calls, batches);
    measure("write_to_null", do_null, calls, batches);
    unlink(path[0]);
    unlink(path[1]);
    MPI_Finalize();
    return 0;
}
