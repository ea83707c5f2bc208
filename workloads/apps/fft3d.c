/*
 * fft3d: heat that spreads in a periodic cube, by three-dimensional Fourier
 * transforms whose lines are brought together by MPI_Alltoall.
 *
 *     fft3d [N=16] [ITERATIONS=4]
 *
 * The cube has N x N x N points, N a power of two. The ranks are a grid of
 * P x Q as even as can be; both must divide N. Each has all points along one
 * axis of N/P x N/Q lines. For another axis, lines are traded within a row (of P
 * ranks) or a column (of Q ranks) of the grid, each a communicator of its own.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Dims_create,
 *                      MPI_Finalize: 1 each
 *                      MPI_Comm_split 2, MPI_Comm_free 2
 *                      MPI_Alltoall 2 + 2 x ITERATIONS, half of them in rows
 *                      (16 x N^3 / (P x P x Q) bytes to each rank) and half in
 *                      columns (16 x N^3 / (P x Q x Q))
 *                      MPI_Allreduce ITERATIONS (8 bytes, MAX)
 *                      MPI_Reduce ITERATIONS (16 bytes, SUM, to rank 0)
 *
 * The first state is a sum of three waves, which fade at known rates: what all
 * points must be after each iteration is known and checked.
 */
#include "counted_calls.h"

#include <complex.h>
#include <math.h>

static const double pi = 3.14159265358979323846, spreading = 1e-3;

/* Waves of the first state: how often they fit into the cube along each axis. */
enum { WAVES = 3 };
static const int wave[WAVES][3] = {{1, 0, 0}, {2, -1, 3}, {0, 3, -2}};
static const double height[WAVES] = {1, 0.5, 0.25};

struct cube {
    int n, rows, columns, row_place, column_place; /* the grid of ranks, and where in it */
    MPI_Comm row, column;
    double complex *here, *packed, *arrived;
};

/* One line of n points, a power of two; direction -1 forth, 1 back (not scaled). */
static void transform_line(double complex *line, int n, int direction)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex swap = line[i];
            line[i] = line[j];
            line[j] = swap;
        }
    }
    for (int length = 2; length <= n; length *= 2)
        for (int k = 0; k < length / 2; k++) {
            double angle = direction * 2 * pi * k / length;
            double complex turn = cos(angle) + I * sin(angle);
            for (int i = k; i < n; i += length) {
                double complex odd = turn * line[i + length / 2];
                line[i + length / 2] = line[i] - odd;
                line[i] += odd;
            }
        }
}

static void transform_lines(struct cube *c, int direction)
{
    long lines = (long)(c->n / c->rows) * (c->n / c->columns);
    for (long line = 0; line < lines; line++)
        transform_line(c->here + line * c->n, c->n, direction);
}

/*
 * Swaps the axis along the lines with the one cut among the ranks of a
 * communicator. Points are [other][cut][along]; `others` and `cut` are how many
 * a rank has. With `outer` the order of the first two is [cut][other].
 */
static void swap_axes(struct cube *c, MPI_Comm ranks, int parts, int others, int outer)
{
    int n = c->n, cut = n / parts, block = cut * cut * others;
    double complex *to = c->packed;
    for (int part = 0; part < parts; part++)
        for (int other = 0; other < others; other++)
            for (int along = part * cut; along < (part + 1) * cut; along++)
                for (int i = 0; i < cut; i++)
                    *to++ = c->here[(long)(outer ? i * others + other : other * cut + i) * n + along];
    CALL(MPI_Alltoall, c->packed, block, MPI_C_DOUBLE_COMPLEX, c->arrived, block, MPI_C_DOUBLE_COMPLEX,
         ranks);
    const double complex *from = c->arrived;
    for (int part = 0; part < parts; part++)
        for (int other = 0; other < others; other++)
            for (int i = 0; i < cut; i++)
                for (int along = part * cut; along < (part + 1) * cut; along++)
                    c->here[(long)(outer ? i * others + other : other * cut + i) * n + along] = *from++;
}

/* [z of the column][y of the row][x] and [z of the column][x of the row][y] */
static void swap_in_row(struct cube *c)
{
    swap_axes(c, c->row, c->rows, c->n / c->columns, 0);
}

/* [z of the column][x of the row][y] and [y of the column][x of the row][z] */
static void swap_in_column(struct cube *c)
{
    swap_axes(c, c->column, c->columns, c->n / c->rows, 1);
}

static void forth(struct cube *c)
{
    transform_lines(c, -1);
    swap_in_row(c);
    transform_lines(c, -1);
    swap_in_column(c);
    transform_lines(c, -1);
}

static void back(struct cube *c)
{
    transform_lines(c, 1);
    swap_in_column(c);
    transform_lines(c, 1);
    swap_in_row(c);
    transform_lines(c, 1);
}

static double fading(double x, double y, double z, int time)
{
    return exp(-4 * pi * pi * spreading * time * (x * x + y * y + z * z));
}

/* The state at a time: complex waves, so that an error in a sign shows. */
static double complex expected(int n, int x, int y, int z, int time)
{
    double complex sum = 0;
    for (int w = 0; w < WAVES; w++) {
        double angle = 2 * pi * (wave[w][0] * x + wave[w][1] * y + wave[w][2] * z) / n;
        sum += height[w] * fading(wave[w][0], wave[w][1], wave[w][2], time) * (cos(angle) + I * sin(angle));
    }
    return sum;
}

/* Number 0 to n - 1 of a transformed point as how often its wave fits in. */
static int frequency(int i, int n)
{
    return i < n / 2 ? i : i - n;
}

/* Lets the waves of the transformed first state fade, into the points of `c`. */
static void fade(struct cube *c, const double complex *first, int time)
{
    int n = c->n, ny = n / c->columns, nx = n / c->rows;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            for (int z = 0; z < n; z++) {
                long p = ((long)j * nx + i) * n + z;
                c->here[p] = first[p] * fading(frequency(c->row_place * nx + i, n),
                                               frequency(c->column_place * ny + j, n), frequency(z, n), time);
            }
}

/* Visits all points when lines are along x: sets them to the first state, or gives the largest error. */
static double compare(struct cube *c, int time, int set, double complex *sum)
{
    int n = c->n, nz = n / c->columns, ny = n / c->rows;
    double worst = 0;
    *sum = 0;
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int x = 0; x < n; x++) {
                double complex *point = &c->here[((long)k * ny + j) * n + x];
                double complex right =
                    expected(n, x, c->row_place * ny + j, c->column_place * nz + k, time);
                if (set)
                    *point = right;
                else
                    *point /= (double)n * n * n;
                worst = fmax(worst, cabs(*point - right));
                *sum += *point * conj(*point);
            }
    return worst;
}

static int run(struct cube *c, int rank, int iterations)
{
    size_t points = (size_t)c->n * c->n * c->n / ((size_t)c->rows * c->columns);
    c->here = malloc(points * sizeof *c->here);
    c->packed = malloc(points * sizeof *c->packed);
    c->arrived = malloc(points * sizeof *c->arrived);
    double complex *first = malloc(points * sizeof *first), sum, total = 0;
    double worst = 0, everywhere;
    if (!c->here || !c->packed || !c->arrived || !first) {
        fprintf(stderr, "fft3d: no memory for %zu points\n", points);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    compare(c, 0, 1, &sum);
    forth(c);
    memcpy(first, c->here, points * sizeof *first);
    for (int time = 1; time <= iterations; time++) {
        fade(c, first, time);
        back(c);
        double mine = compare(c, time, 0, &sum);
        CALL(MPI_Reduce, &sum, &total, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD);
        CALL(MPI_Allreduce, &mine, &everywhere, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        worst = fmax(worst, everywhere);
    }
    int wrong = !(worst < 1e-12);
    if (rank == 0) {
        if (wrong)
            fprintf(stderr, "fft3d: the largest error of a point is %g\n", worst);
        printf("fft3d %d^3 points on %dx%d ranks, %d iterations: square %.10g, %s\n", c->n, c->rows,
               c->columns, iterations, creal(total) / ((double)c->n * c->n * c->n),
               wrong ? "WRONG" : "as the waves fade");
    }
    free(c->here);
    free(c->packed);
    free(c->arrived);
    free(first);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, dims[2] = {0, 0};
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 16;
    int iterations = argc > 2 ? atoi(argv[2]) : 4;
    CALL(MPI_Dims_create, size, 2, dims);
    if (n < 8 || (n & (n - 1)) != 0 || n % dims[0] != 0 || n % dims[1] != 0) {
        if (rank == 0)
            fprintf(stderr, "fft3d: N must be a power of two, 8 or more, and %d and %d divide it\n", dims[0],
                    dims[1]);
        CALL(MPI_Finalize);
        return 2;
    }
    struct cube c = {.n = n, .rows = dims[0], .columns = dims[1]};
    c.row_place = rank % dims[0];
    c.column_place = rank / dims[0];
    CALL(MPI_Comm_split, MPI_COMM_WORLD, c.column_place, c.row_place, &c.row);
    CALL(MPI_Comm_split, MPI_COMM_WORLD, c.row_place, c.column_place, &c.column);
    int wrong = run(&c, rank, iterations);
    CALL(MPI_Comm_free, &c.row);
    CALL(MPI_Comm_free, &c.column);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
