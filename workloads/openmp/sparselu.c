/*
 * sparselu: LU decomposition of a sparse matrix of blocks, phase by phase.
 *
 *     sparselu [BLOCKS=10] [SIZE=16]
 *
 * The matrix has BLOCKS x BLOCKS blocks of SIZE x SIZE numbers, many of them empty; some fill during the decomposition. One
 * thread decomposes the block on the diagonal itself, makes a task for each block right of it and below it that is not empty,
 * waits, makes a task for each product of two of these, and waits. In later steps there are fewer tasks than threads.
 *
 * One parallel region and 2 BLOCKS taskwaits. How many tasks there are follows from which blocks are empty: it is counted by a
 * decomposition that only looks at that, and printed.
 * Checks that L U is the matrix from which it began.
 */
#include "program.h"
#include <math.h>

static int blocks, size;
static double **matrix;

static double **block(int row, int column)
{
    return &matrix[row * blocks + column];
}

static double *new_block(void)
{
    return memory((size_t)size * (size_t)size * sizeof(double));
}

static int filled_at_first(int row, int column)
{
    if (row == column || row == column + 1 || column == row + 1)
        return 1;
    if (row % 2 == 1 && column % 2 == 1)
        return 0;
    return row < column ? row % 3 == 0 : column % 3 == 0;
}

/* The diagonal outweighs the rest of its row, so that no pivots are needed. */
static double number_at_first(int row, int column)
{
    return row == column ? 2.0 * blocks * size : chance((uint64_t)row, (uint64_t)column) - 0.5;
}

static void decompose(double *d)
{
    for (int k = 0; k < size; k++)
        for (int i = k + 1; i < size; i++) {
            d[i * size + k] /= d[k * size + k];
            for (int j = k + 1; j < size; j++)
                d[i * size + j] -= d[i * size + k] * d[k * size + j];
        }
}

static void solve_right(const double *d, double *x)
{
    for (int k = 0; k < size; k++)
        for (int i = k + 1; i < size; i++)
            for (int j = 0; j < size; j++)
                x[i * size + j] -= d[i * size + k] * x[k * size + j];
}

static void solve_below(const double *d, double *x)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            x[i * size + k] /= d[k * size + k];
            for (int j = k + 1; j < size; j++)
                x[i * size + j] -= x[i * size + k] * d[k * size + j];
        }
}

static void subtract_product(const double *a, const double *b, double *x)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            for (int j = 0; j < size; j++)
                x[i * size + j] -= a[i * size + k] * b[k * size + j];
}

static void sparse_lu(void)
{
    for (int k = 0; k < blocks; k++) {
        decompose(*block(k, k));
        for (int j = k + 1; j < blocks; j++)
            if (*block(k, j) != NULL) {
#pragma omp task firstprivate(k, j)
                solve_right(*block(k, k), *block(k, j));
            }
        for (int i = k + 1; i < blocks; i++)
            if (*block(i, k) != NULL) {
#pragma omp task firstprivate(k, i)
                solve_below(*block(k, k), *block(i, k));
            }
#pragma omp taskwait
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j < blocks; j++)
                if (*block(i, k) != NULL && *block(k, j) != NULL) {
#pragma omp task firstprivate(k, i, j)
                    {
                        if (*block(i, j) == NULL)
                            *block(i, j) = new_block();
                        subtract_product(*block(i, k), *block(k, j), *block(i, j));
                    }
                }
#pragma omp taskwait
    }
}

static long tasks(void)
{
    char *filled = memory((size_t)blocks * (size_t)blocks);
    for (int i = 0; i < blocks * blocks; i++)
        filled[i] = (char)filled_at_first(i / blocks, i % blocks);
    long count = 0;
    for (int k = 0; k < blocks; k++)
        for (int i = k + 1; i < blocks; i++) {
            count += filled[k * blocks + i] + filled[i * blocks + k];
            for (int j = k + 1; j < blocks; j++)
                if (filled[i * blocks + k] && filled[k * blocks + j]) {
                    filled[i * blocks + j] = 1;
                    count++;
                }
        }
    free(filled);
    return count;
}

static double decomposed(int row, int column)
{
    const double *found = *block(row / size, column / size);
    return found == NULL ? 0 : found[(row % size) * size + column % size];
}

static double largest_error(void)
{
    int n = blocks * size;
    double largest = 0, *line = memory((size_t)n * sizeof *line);
    for (int row = 0; row < n; row++) {
        for (int column = 0; column < n; column++)
            line[column] = -(filled_at_first(row / size, column / size) ? number_at_first(row, column) : 0);
        for (int k = 0; k <= row; k++) {
            double factor = k == row ? 1 : decomposed(row, k);
            if (factor == 0)
                continue;
            for (int column = k; column < n; column++)
                line[column] += factor * decomposed(k, column);
        }
        for (int column = 0; column < n; column++)
            largest = fmax(largest, fabs(line[column]));
    }
    free(line);
    return largest;
}

int main(int argc, char **argv)
{
    blocks = (int)number(argc, argv, 1, 10, 1, 500);
    size = (int)number(argc, argv, 2, 16, 1, 500);
    matrix = memory((size_t)blocks * (size_t)blocks * sizeof *matrix);
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j < blocks; j++)
            if (filled_at_first(i, j)) {
                double *fresh = *block(i, j) = new_block();
                for (int x = 0; x < size * size; x++)
                    fresh[x] = number_at_first(i * size + x / size, j * size + x % size);
            }
#pragma omp parallel
#pragma omp single
    sparse_lu();
    double error = largest_error();
    printf("sparselu: %d x %d blocks of %d x %d are %s, regions 1, tasks %ld\n", blocks, blocks, size, size,
           error < 1e-9 ? "decomposed" : "wrong", tasks());
    for (int i = 0; i < blocks * blocks; i++)
        free(matrix[i]);
    free(matrix);
    return error < 1e-9 ? 0 : 1;
}
