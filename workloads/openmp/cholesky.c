/*
 * cholesky: Cholesky decomposition of a matrix of blocks, each operation on blocks a task that depends on them.
 *
 *     cholesky [BLOCKS=8] [SIZE=32]
 *
 * One thread creates all tasks in the order of the plain algorithm; what may run at once follows from depend alone: nothing
 * waits but the end of the region.
 *
 * One parallel region. With n = BLOCKS: n tasks that decompose a block on the diagonal (depend inout: 1), n (n - 1) / 2 that
 * solve (in: 1, inout: 1), n (n - 1) / 2 that square (in: 1, inout: 1) and n (n - 1) (n - 2) / 6 that multiply (in: 2,
 * inout: 1). The longest chain has 3 n - 2 tasks: decompose, solve, square, decompose, ...
 * Checks that L times its transpose is the matrix from which it began.
 */
#include "program.h"
#include <math.h>

static int blocks, size;

static void decompose(double *d)
{
    for (int k = 0; k < size; k++) {
        d[k * size + k] = sqrt(d[k * size + k]);
        for (int i = k + 1; i < size; i++)
            d[i * size + k] /= d[k * size + k];
        for (int i = k + 1; i < size; i++)
            for (int j = k + 1; j <= i; j++)
                d[i * size + j] -= d[i * size + k] * d[j * size + k];
    }
}

static void solve(const double *d, double *x)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            double rest = x[i * size + k];
            for (int j = 0; j < k; j++)
                rest -= x[i * size + j] * d[k * size + j];
            x[i * size + k] = rest / d[k * size + k];
        }
}

/* x -= a * transpose of b */
static void subtract_product(const double *a, const double *b, double *x)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double sum = 0;
            for (int k = 0; k < size; k++)
                sum += a[i * size + k] * b[j * size + k];
            x[i * size + j] -= sum;
        }
}

static void cholesky(double **block)
{
    for (int k = 0; k < blocks; k++) {
        double *diagonal = block[k * blocks + k];
#pragma omp task depend(inout : diagonal[0]) firstprivate(diagonal)
        decompose(diagonal);
        for (int i = k + 1; i < blocks; i++) {
            double *below = block[i * blocks + k];
#pragma omp task depend(in : diagonal[0]) depend(inout : below[0]) firstprivate(diagonal, below)
            solve(diagonal, below);
        }
        for (int i = k + 1; i < blocks; i++) {
            double *left = block[i * blocks + k], *own = block[i * blocks + i];
            for (int j = k + 1; j < i; j++) {
                double *above = block[j * blocks + k], *target = block[i * blocks + j];
#pragma omp task depend(in : left[0], above[0]) depend(inout : target[0]) firstprivate(left, above, target)
                subtract_product(left, above, target);
            }
#pragma omp task depend(in : left[0]) depend(inout : own[0]) firstprivate(left, own)
            subtract_product(left, left, own);
        }
    }
}

/* The diagonal outweighs the rest of its row: the matrix is positive definite. */
static double number_at_first(int row, int column)
{
    return row == column ? 2.0 * blocks * size : 1.0 / (1 + abs(row - column));
}

static double largest_error(double **block)
{
    int n = blocks * size;
    double largest = 0, *lower = memory((size_t)n * (size_t)n * sizeof *lower);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            lower[i * n + j] = block[i / size * blocks + j / size][i % size * size + j % size];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = -number_at_first(i, j);
            for (int k = 0; k <= j; k++)
                sum += lower[i * n + k] * lower[j * n + k];
            largest = fmax(largest, fabs(sum));
        }
    free(lower);
    return largest;
}

int main(int argc, char **argv)
{
    blocks = (int)number(argc, argv, 1, 8, 1, 200);
    size = (int)number(argc, argv, 2, 32, 1, 200);
    double **block = memory((size_t)blocks * (size_t)blocks * sizeof *block);
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j <= i; j++) {
            double *fresh = block[i * blocks + j] = memory((size_t)size * (size_t)size * sizeof *fresh);
            for (int x = 0; x < size * size; x++)
                fresh[x] = number_at_first(i * size + x / size, j * size + x % size);
        }
#pragma omp parallel
#pragma omp single
    cholesky(block);
    double error = largest_error(block);
    long n = blocks, tasks = n + n * (n - 1) + n * (n - 1) * (n - 2) / 6;
    printf("cholesky: %d x %d blocks of %d x %d are %s, regions 1, tasks %ld\n", blocks, blocks, size, size,
           error < 1e-9 ? "decomposed" : "wrong", tasks);
    for (int i = 0; i < blocks * blocks; i++)
        free(block[i]);
    free(block);
    return error < 1e-9 ? 0 : 1;
}
