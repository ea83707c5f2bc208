/* Multigrid. On the coarsest level each rank has a single cell, and a few dozen sweeps are made over it, each with a halo of one
 * number and a sum to see whether it has converged: next to no work, and latency all the time. The fix collects the coarsest
 * level once and has each rank solve all of it by itself.
 *
 * arguments: cycles, work on the finest level (us; a quarter of that on the next, and so on), levels, sweeps on the coarsest
 * disease: tiny-collectives needless-collective small-messages
 * run: 32 smpi=32 args="160 1200 3 24" overhead=3e-6
 */
#include "truth.h"

enum { WIDEST = 400, MOST = 64 };

struct hierarchy {
    int rank, left, right, levels, sweeps, ranks;
    double us, halos[2][WIDEST], edges[2][WIDEST];
};

static void exchange(struct hierarchy *grid, int length)
{
    MPI_Request both[4];
    MPI_Irecv(grid->halos[0], length, MPI_DOUBLE, grid->left, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(grid->halos[1], length, MPI_DOUBLE, grid->right, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Isend(grid->edges[1], length, MPI_DOUBLE, grid->right, 0, MPI_COMM_WORLD, &both[2]);
    MPI_Isend(grid->edges[0], length, MPI_DOUBLE, grid->left, 1, MPI_COMM_WORLD, &both[3]);
    MPI_Waitall(4, both, MPI_STATUSES_IGNORE);
}

static void smooth(struct hierarchy *grid, int level, long cycle)
{
    double us = grid->us / (double)(1 << 2 * level);
    work_us(us * (0.98 + 0.04 * chance(22, (uint64_t)(cycle * 8 + level), (uint64_t)grid->rank)));
    exchange(grid, WIDEST >> level);
}

static double residual_of_all(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the place */
    return all;
}

static void relax_coarsest(struct hierarchy *grid)
{
    for (int sweep = 0; sweep < grid->sweeps; sweep++) { /* place begin */
        work_us(1);
        exchange(grid, 1);
        if (residual_of_all(1.0 / (1 + sweep)) < 1e-12)
            break;
    } /* place end */
}

static void solve_coarsest(struct hierarchy *grid)
{
    double cells[MOST], mine = grid->rank;
    MPI_Allgather(&mine, 1, MPI_DOUBLE, cells, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    work_us(grid->sweeps);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long cycles = truth_number(&truth, 1, 160);
    struct hierarchy *grid = calloc(1, sizeof *grid);
    grid->us = truth_number(&truth, 2, 1200);
    grid->levels = (int)truth_number(&truth, 3, 3);
    grid->sweeps = (int)truth_number(&truth, 4, 24);
    grid->rank = truth.rank;
    grid->left = (truth.rank + truth.ranks - 1) % truth.ranks;
    grid->right = (truth.rank + 1) % truth.ranks;
    for (long cycle = 0; cycle < cycles; cycle++) {
        for (int level = 0; level < grid->levels; level++)
            smooth(grid, level, cycle);
        truth.mode == SICK ? relax_coarsest(grid) : solve_coarsest(grid); /* the place */
        for (int level = grid->levels - 1; level >= 0; level--)
            smooth(grid, level, cycle + cycles);
    }
    truth_end(&truth);
}
