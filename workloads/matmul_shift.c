/*
 * matmul_shift: C = A x B by shifting B around a ring, as Cannon's algorithm
 * shifts its blocks. Each rank owns N rows of A, of B and of C; the matrices
 * have N x ranks rows and columns.
 *
 *     matmul_shift [N=32]
 *
 * In step k a rank holds the rows of B that belong to rank + k, multiplies them
 * with the matching columns of its A, and passes them on to the left.
 * All elements are small integers, so the product is exact in any order, and
 * each rank checks its rows against a product formed without communication.
 *
 * Calls of each rank (P = ranks):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *     MPI_Sendrecv_replace P - 1 (8 x N x N x P bytes, tag 11, to rank - 1,
 *     from rank + 1, modulo P)
 *     MPI_Reduce 1 (8 bytes), MPI_Allreduce 1 (4 bytes)
 */
#include "counted_calls.h"

enum { TAG = 11 };

static double element_a(int row, int column)
{
    return (row + 3 * column) % 7 - 3;
}

static double element_b(int row, int column)
{
    return (2 * row + column) % 5 - 2;
}

int main(int argc, char **argv)
{
    int rank, size;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 32;
    int width = n * size, first_row = n * rank;
    size_t block = (size_t)n * width;

    double *a = malloc(block * sizeof *a), *b = malloc(block * sizeof *b);
    double *c = calloc(block, sizeof *c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++) {
            a[i * width + j] = element_a(first_row + i, j);
            b[i * width + j] = element_b(first_row + i, j);
        }

    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int step = 0; step < size; step++) {
        int owner = (rank + step) % size; /* of the rows of B held now */
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                for (int j = 0; j < width; j++)
                    c[i * width + j] += a[i * width + owner * n + k] * b[k * width + j];
        if (step + 1 == size)
            break;
        CALL(MPI_Sendrecv_replace, b, (int)block, MPI_DOUBLE, left, TAG, right, TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note_send(left, TAG, (long)(block * sizeof *b));
        note_receive(right, TAG, (long)(block * sizeof *b));
    }

    int wrong = 0, any_wrong;
    double sum = 0, total = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++) {
            double expected = 0;
            for (int k = 0; k < width; k++)
                expected += element_a(first_row + i, k) * element_b(k, j);
            wrong |= c[i * width + j] != expected;
            sum += c[i * width + j] * (1 + (first_row + i + 2 * j) % 11);
        }
    CALL(MPI_Reduce, &sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    CALL(MPI_Allreduce, &wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "matmul_shift: rank %d has a wrong product\n", rank);
    if (rank == 0 && !any_wrong)
        printf("matmul_shift %dx%d checksum %.17g\n", width, width, total);
    free(a);
    free(b);
    free(c);
    CALL(MPI_Finalize);
    write_counts(rank);
    return any_wrong;
}
