/* Nothing is wrong: power iteration with a dense matrix in blocks on a square of ranks. Parts of the vector are broadcast down the
 * columns, products are added up along the rows to the diagonal, and a norm is computed every tenth step.
 *
 * arguments: steps, work of each rank on its block (us), doubles of a part of the vector
 * run: 16 smpi=16 args="100 5000 1500"
 */
#include "truth.h"

enum { OFTEN = 10 };

struct block {
    MPI_Comm row, column;
    int i, j, length;
    double *part, *product, *sum;
};

static struct block make_block(const struct truth *truth, int length)
{
    int side = 1;
    while ((side + 1) * (side + 1) <= truth->ranks)
        side++;
    struct block block = {.i = truth->rank / side, .j = truth->rank % side, .length = length};
    MPI_Comm_split(MPI_COMM_WORLD, block.i, block.j, &block.row);
    MPI_Comm_split(MPI_COMM_WORLD, block.j, block.i, &block.column);
    block.part = calloc((size_t)length, sizeof(double));
    block.product = calloc((size_t)length, sizeof(double));
    block.sum = calloc((size_t)length, sizeof(double));
    return block;
}

static void multiply(struct block *block, double us)
{
    MPI_Bcast(block->part, block->length, MPI_DOUBLE, block->j, block->column);
    work_us(us);
    MPI_Reduce(block->product, block->sum, block->length, MPI_DOUBLE, MPI_SUM, block->i, block->row);
}

static double norm(void)
{
    double mine = 1, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 5000);
    struct block block = make_block(&truth, (int)truth_number(&truth, 3, 1500));
    for (long step = 0; step < steps; step++) {
        multiply(&block, us * (0.985 + 0.03 * chance(34, (uint64_t)step, (uint64_t)truth.rank)));
        if (step % OFTEN == OFTEN - 1)
            norm();
    }
    truth_end(&truth);
}
