/* Nothing is wrong: conjugate gradients with a preconditioner on a grid of ranks in 2-D. Halos of the product travel during
 * the work on inner rows; two dot products in each iteration, one of two numbers together. Work differs a little by chance.
 *
 * arguments: iterations, work of each rank in an iteration (us), by how much it differs at most (thousandths), seed
 * run: 16 smpi=16 args="60 5000 4 seed"
 * run: 4 real=4 args="50 16000 3 seed"
 */
#include "truth.h"

enum { LENGTH = 300 };

struct matrix {
    MPI_Comm grid;
    int beside[4];
    double out[4][LENGTH], in[4][LENGTH];
};

static void make_matrix(struct matrix *matrix, int ranks)
{
    int sizes[2] = {0, 0}, around[2] = {0, 0};
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &matrix->grid);
    MPI_Cart_shift(matrix->grid, 0, 1, &matrix->beside[0], &matrix->beside[1]);
    MPI_Cart_shift(matrix->grid, 1, 1, &matrix->beside[2], &matrix->beside[3]);
}

static void multiply(struct matrix *matrix, double us)
{
    MPI_Request requests[8];
    for (int side = 0; side < 4; side++) {
        MPI_Irecv(matrix->in[side], LENGTH, MPI_DOUBLE, matrix->beside[side], side ^ 1, matrix->grid, &requests[side]);
        MPI_Isend(matrix->out[side], LENGTH, MPI_DOUBLE, matrix->beside[side], side, matrix->grid, &requests[4 + side]);
    }
    work_us(0.9 * us);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    work_us(0.1 * us);
}

static void dot(const struct matrix *matrix, const double *mine, double *all, int count)
{
    MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, matrix->grid);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long iterations = truth_number(&truth, 1, 60), seed = truth_number(&truth, 4, 1);
    double us = truth_number(&truth, 2, 5000), part = truth_number(&truth, 3, 4) / 1000.0;
    static struct matrix matrix;
    make_matrix(&matrix, truth.ranks);
    double curvature = 1, norms[2] = {1, 1}, all[2] = {1, 1};
    for (long iteration = 0; iteration < iterations && all[1] > 1e-12; iteration++) {
        double now_us = us * (1 + part * chance(seed, iteration, truth.rank));
        multiply(&matrix, 0.6 * now_us);
        dot(&matrix, &curvature, &all[0], 1);
        work_us(0.4 * now_us); /* Vectors, and the preconditioner, which is local. */
        dot(&matrix, norms, all, 2);
    }
    truth_end(&truth);
}
