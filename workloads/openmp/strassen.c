/*
 * strassen: product of two matrices by seven products of half the size instead of eight.
 *
 *     strassen [N=256] [CUTOFF=64]
 *
 * N is CUTOFF times a power of two. Each product above CUTOFF is 7 tasks and a taskwait, with additions before and after them
 * by the task that creates them: tasks have work of their own as well as children.
 *
 * One parallel region, 7 + 49 + ... tasks: as many powers of 7 as N must be halved to come to CUTOFF.
 * Numbers are small and whole, so that every way to compute gives the same; checks against the plain product.
 */
#include "program.h"

/* A square piece of a matrix whose rows are `stride` apart. */
struct piece {
    double *at;
    size_t stride;
};

static size_t cutoff;

static struct piece quarter(struct piece whole, size_t half, size_t down, size_t right)
{
    return (struct piece){whole.at + down * half * whole.stride + right * half, whole.stride};
}

static void multiply(struct piece a, struct piece b, struct piece c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            c.at[i * c.stride + j] = 0;
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                c.at[i * c.stride + j] += a.at[i * a.stride + k] * b.at[k * b.stride + j];
    }
}

/* c = a + sign * b */
static void add(struct piece a, double sign, struct piece b, struct piece c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            c.at[i * c.stride + j] = a.at[i * a.stride + j] + sign * b.at[i * b.stride + j];
}

static void strassen(struct piece a, struct piece b, struct piece c, size_t n)
{
    if (n <= cutoff) {
        multiply(a, b, c, n);
        return;
    }
    size_t half = n / 2;
    double *room = memory(17 * half * half * sizeof *room);
    struct piece left[5], right[5], product[7];
    for (size_t i = 0; i < 5; i++) {
        left[i] = (struct piece){room + i * half * half, half};
        right[i] = (struct piece){room + (5 + i) * half * half, half};
    }
    for (size_t i = 0; i < 7; i++)
        product[i] = (struct piece){room + (10 + i) * half * half, half};
    struct piece a11 = quarter(a, half, 0, 0), a12 = quarter(a, half, 0, 1), a21 = quarter(a, half, 1, 0),
                 a22 = quarter(a, half, 1, 1), b11 = quarter(b, half, 0, 0), b12 = quarter(b, half, 0, 1),
                 b21 = quarter(b, half, 1, 0), b22 = quarter(b, half, 1, 1);
    add(a11, 1, a22, left[0], half);
    add(a21, 1, a22, left[1], half);
    add(a11, 1, a12, left[2], half);
    add(a21, -1, a11, left[3], half);
    add(a12, -1, a22, left[4], half);
    add(b11, 1, b22, right[0], half);
    add(b12, -1, b22, right[1], half);
    add(b21, -1, b11, right[2], half);
    add(b11, 1, b12, right[3], half);
    add(b21, 1, b22, right[4], half);
    const struct piece factors[7][2] = {{left[0], right[0]}, {left[1], b11},      {a11, right[1]},     {a22, right[2]},
                                        {left[2], b22},      {left[3], right[3]}, {left[4], right[4]}};
    for (size_t i = 0; i < 7; i++) {
#pragma omp task shared(factors, product) firstprivate(i, half)
        strassen(factors[i][0], factors[i][1], product[i], half);
    }
#pragma omp taskwait
    for (size_t i = 0; i < half; i++)
        for (size_t j = 0; j < half; j++) {
            double m[7];
            for (size_t k = 0; k < 7; k++)
                m[k] = product[k].at[i * half + j];
            double *upper = c.at + i * c.stride + j, *lower = upper + half * c.stride;
            upper[0] = m[0] + m[3] - m[4] + m[6];
            upper[half] = m[2] + m[4];
            lower[0] = m[1] + m[3];
            lower[half] = m[0] - m[1] + m[2] + m[5];
        }
    free(room);
}

int main(int argc, char **argv)
{
    size_t n = (size_t)number(argc, argv, 1, 256, 1, 16384);
    cutoff = (size_t)number(argc, argv, 2, 64, 1, 16384);
    long tasks = 0, level = 1;
    for (size_t side = n; side > cutoff; side /= 2) {
        if (side % 2 != 0) {
            fprintf(stderr, "strassen: N is CUTOFF times a power of two\n");
            return 2;
        }
        level *= 7;
        tasks += level;
    }
    struct piece matrix[4];
    for (int i = 0; i < 4; i++)
        matrix[i] = (struct piece){memory(n * n * sizeof(double)), n};
    for (size_t i = 0; i < n * n; i++) {
        matrix[0].at[i] = (double)(i * 31 % 17) - 8;
        matrix[1].at[i] = (double)(i * 37 % 19) - 9;
    }
#pragma omp parallel
#pragma omp single
    strassen(matrix[0], matrix[1], matrix[2], n);
    multiply(matrix[0], matrix[1], matrix[3], n);
    int wrong = 0;
    double sum = 0;
    for (size_t i = 0; i < n * n; i++) {
        wrong |= matrix[2].at[i] != matrix[3].at[i];
        sum += matrix[2].at[i] * (double)(i % 7);
    }
    printf("strassen: the product has the sum %.0f, regions 1, tasks %ld\n", sum, tasks);
    for (int i = 0; i < 4; i++)
        free(matrix[i].at);
    return wrong;
}
