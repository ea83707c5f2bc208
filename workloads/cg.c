/*
 * cg: conjugate gradients on a sparse symmetric matrix whose rows are spread
 * over the ranks in blocks.
 *
 *     cg [ROWS=1000] [ITERATIONS=30]
 *
 * Row i has 5 on the diagonal and -1 in columns i +- 1 and i +- stride (modulo
 * ROWS, stride = 2 ROWS / 5). The eigenvalues lie in [1, 9], so each iteration
 * at least halves the error, which the program checks against the known
 * solution. Before the iteration the ranks tell each other which elements they
 * need; in it they exchange just these.
 *
 * Calls of each rank:
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *     MPI_Alltoall 1 (4 bytes to each: how many elements are wanted)
 *     MPI_Alltoallv 1 + ITERATIONS (4 bytes per index, then 8 per element)
 *     MPI_Allreduce 1 + 2 x ITERATIONS (8 bytes)
 *     MPI_Allgatherv 1 (8 bytes per row: the solution)
 * No point-to-point messages.
 */
#include "counted_calls.h"

#include <math.h>

static int rows, ranks;

static int first_row(int rank)
{
    return (int)((long)rows * rank / ranks);
}

static int owner_of(int row)
{
    int rank = (int)((long)row * ranks / rows);
    while (rank + 1 < ranks && first_row(rank + 1) <= row)
        rank++;
    return rank;
}

/* The columns of the four off-diagonal elements of a row. */
static int column_of(int row, int which)
{
    int stride = 2 * rows / 5;
    const int offset[4] = {1, rows - 1, stride, rows - stride};
    return (row + offset[which]) % rows;
}

static double solution(int row)
{
    return 1 + row % 3 - 0.125 * (row % 8);
}

/* Who wants what from whom: indices in rank order, for MPI_Alltoallv. */
struct exchange {
    int *give_count, *give_start, *give_row; /* what the others want from here */
    int *take_count, *take_start, *take_row; /* what is wanted from the others */
    double *give;
};

static int running_sum(const int *count, int *start)
{
    int sum = 0;
    for (int r = 0; r < ranks; r++) {
        start[r] = sum;
        sum += count[r];
    }
    return sum;
}

static struct exchange plan_exchange(int first, int end)
{
    struct exchange x;
    x.give_count = calloc(ranks, sizeof(int)), x.give_start = calloc(ranks, sizeof(int));
    x.take_count = calloc(ranks, sizeof(int)), x.take_start = calloc(ranks, sizeof(int));
    char *wanted = calloc(rows, 1);
    for (int i = first; i < end; i++)
        for (int k = 0; k < 4; k++)
            if (column_of(i, k) < first || column_of(i, k) >= end)
                wanted[column_of(i, k)] = 1;
    x.take_row = malloc((rows + 1) * sizeof(int));
    for (int row = 0, n = 0; row < rows; row++)
        if (wanted[row]) {
            x.take_row[n++] = row;
            x.take_count[owner_of(row)]++;
        }
    free(wanted);

    CALL(MPI_Alltoall, x.take_count, 1, MPI_INT, x.give_count, 1, MPI_INT, MPI_COMM_WORLD);
    running_sum(x.take_count, x.take_start);
    int giving = running_sum(x.give_count, x.give_start);
    x.give_row = malloc((giving + 1) * sizeof(int));
    x.give = malloc((giving + 1) * sizeof(double));
    CALL(MPI_Alltoallv, x.take_row, x.take_count, x.take_start, MPI_INT, x.give_row, x.give_count,
         x.give_start, MPI_INT, MPI_COMM_WORLD);
    return x;
}

static void free_exchange(struct exchange *x)
{
    free(x->give_count), free(x->give_start), free(x->give_row), free(x->give);
    free(x->take_count), free(x->take_start), free(x->take_row);
}

/* y = A p, for the rows of this rank; p is a full vector with our rows valid. */
static void multiply(struct exchange *x, double *p, double *taken, double *y, int first, int end)
{
    int last = ranks - 1;
    for (int i = 0; i < x->give_start[last] + x->give_count[last]; i++)
        x->give[i] = p[x->give_row[i]];
    CALL(MPI_Alltoallv, x->give, x->give_count, x->give_start, MPI_DOUBLE, taken, x->take_count,
         x->take_start, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < x->take_start[last] + x->take_count[last]; i++)
        p[x->take_row[i]] = taken[i];
    for (int i = first; i < end; i++) {
        y[i] = 5 * p[i];
        for (int k = 0; k < 4; k++)
            y[i] -= p[column_of(i, k)];
    }
}

static double dot(const double *x, const double *y, int first, int end)
{
    double mine = 0, all;
    for (int i = first; i < end; i++)
        mine += x[i] * y[i];
    CALL(MPI_Allreduce, &mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &ranks);
    rows = argc > 1 ? atoi(argv[1]) : 1000;
    int iterations = argc > 2 ? atoi(argv[2]) : 30;
    if (rows < 5 || rows < ranks) {
        fprintf(stderr, "cg: needs 5 rows and a row for each rank\n");
        CALL(MPI_Finalize);
        return 2;
    }
    int first = first_row(rank), end = first_row(rank + 1);
    struct exchange x = plan_exchange(first, end);

    /* Full-length vectors keep the indices plain; only our rows are computed. */
    double *u = calloc(rows, sizeof *u), *r = calloc(rows, sizeof *r), *p = calloc(rows, sizeof *p);
    double *q = calloc(rows, sizeof *q), *taken = calloc(rows + 1, sizeof *taken);
    for (int i = first; i < end; i++) {
        r[i] = 5 * solution(i); /* the right-hand side, since u starts at 0 */
        for (int k = 0; k < 4; k++)
            r[i] -= solution(column_of(i, k));
        p[i] = r[i];
    }
    double rho = dot(r, r, first, end);
    for (int k = 0; k < iterations; k++) {
        multiply(&x, p, taken, q, first, end);
        double alpha = rho / dot(p, q, first, end);
        for (int i = first; i < end; i++) {
            u[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double previous = rho;
        rho = dot(r, r, first, end);
        for (int i = first; i < end; i++)
            p[i] = r[i] + rho / previous * p[i];
    }

    int *count = malloc(ranks * sizeof(int)), *start = malloc(ranks * sizeof(int));
    for (int i = 0; i < ranks; i++) {
        start[i] = first_row(i);
        count[i] = first_row(i + 1) - start[i];
    }
    double *all = malloc(rows * sizeof *all);
    CALL(MPI_Allgatherv, u + first, end - first, MPI_DOUBLE, all, count, start, MPI_DOUBLE,
         MPI_COMM_WORLD);
    double error = 0, norm = 0, sum = 0;
    for (int i = 0; i < rows; i++) {
        error += (all[i] - solution(i)) * (all[i] - solution(i));
        norm += solution(i) * solution(i);
        sum += all[i] * (1 + i % 4);
    }
    /* The bound of conjugate gradients with eigenvalues in [1, 9], plus rounding. */
    int wrong = !(sqrt(error) <= (6 * pow(0.5, iterations) + 1e-12) * sqrt(norm));
    if (wrong)
        fprintf(stderr, "cg: rank %d: the error is %g\n", rank, sqrt(error));
    else if (rank == 0)
        printf("cg rows %d iterations %d residual %.17g checksum %.17g\n", rows, iterations,
               sqrt(rho), sum);
    free(u), free(r), free(p), free(q), free(taken), free(all), free(count), free(start);
    free_exchange(&x);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
