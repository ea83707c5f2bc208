/* A matrix product on a square of ranks: in each step one rank of every row shares a panel with its row, one rank of every
 * column shares one with its column, and all multiply. Nothing is ever done by all ranks together. One rank multiplies more
 * slowly than the others, and they wait for it whenever it has a panel to share.
 *
 * arguments: steps, work of each rank on a product (us), additional work of the slow one (us), the slow one
 * disease: imbalance slow-ranks
 * run: 16 smpi=16 args="110 2500 600 6" blamed=6
 * run: 4 real=4 args="60 6000 5000 1" blamed=1
 */
#include "truth.h"

enum { LENGTH = 500 };

struct square {
    MPI_Comm row, column;
    int side;
    double *left, *right;
};

static struct square square_of(const struct truth *truth)
{
    struct square square = {.side = 1};
    int sizes[2] = {0, 0}, around[2] = {0, 0}, along_row[2] = {0, 1}, along_column[2] = {1, 0};
    MPI_Comm grid;
    MPI_Dims_create(truth->ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &grid);
    MPI_Cart_sub(grid, along_row, &square.row);
    MPI_Cart_sub(grid, along_column, &square.column);
    square.side = sizes[0];
    square.left = calloc(LENGTH, sizeof(double));
    square.right = calloc(LENGTH, sizeof(double));
    MPI_Comm_free(&grid);
    return square;
}

static void share(double *panel, int root, MPI_Comm line)
{
    MPI_Bcast(panel, LENGTH, MPI_DOUBLE, root, line); /* the place */
}

/* Panels of the next step are shared as soon as this one's are used. */
static void multiply(struct square *square, long step, double us)
{
    int next = (int)((step + 1) % square->side);
    work_us(us); /* place begin */
    share(square->left, next, square->row);
    share(square->right, next, square->column); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    double us = truth_number(&truth, 2, 2500), more_us = truth_number(&truth, 3, 1500);
    if (truth.mode == SICK && truth.rank == truth_number(&truth, 4, 6))
        us += more_us;
    struct square square = square_of(&truth);
    for (long step = 0; step < steps; step++)
        multiply(&square, step, us);
    truth_end(&truth);
}
