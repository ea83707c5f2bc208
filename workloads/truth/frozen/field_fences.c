/* Six fields on a ring of ranks, whose edges are put into the windows of both neighbours. What a field costs differs from
 * rank to rank and from step to step, but all six together cost the same on each. There is a fence behind each field, as if
 * the next one needed the edges of this one, so everybody waits six times for the longest. One fence behind all does.
 *
 * arguments: steps, mean work of each rank on a field (us), by how much it differs at most (%), seed
 * disease: needless-barrier needless-collective
 * run: 12 smpi=12 args="80 700 25 seed"
 */
#include "truth.h"

enum { FIELDS = 6, LENGTH = 120 };

struct ring {
    int left, right;
    double *halo, edge[LENGTH];
    MPI_Win window;
};

static void put_edges(struct ring *ring, int field)
{
    MPI_Aint at = 2 * (MPI_Aint)field * LENGTH;
    MPI_Put(ring->edge, LENGTH, MPI_DOUBLE, ring->right, at, LENGTH, MPI_DOUBLE, ring->window);
    MPI_Put(ring->edge, LENGTH, MPI_DOUBLE, ring->left, at + LENGTH, LENGTH, MPI_DOUBLE, ring->window);
}

/* Work on each field; the mean over all fields is given. */
static void costs_of(double us[FIELDS], double mean_us, double spread, long seed, long step, int rank)
{
    double sum = 0;
    for (int field = 0; field < FIELDS; field++)
        sum += us[field] = 1 + spread * (2 * chance(seed, FIELDS * step + field, rank) - 1);
    for (int field = 0; field < FIELDS; field++)
        us[field] *= FIELDS * mean_us / sum;
}

static void advance(struct ring *ring, const double us[FIELDS], int fence_each)
{
    for (int field = 0; field < FIELDS; field++) {
        work_us(us[field]); /* place begin */
        put_edges(ring, field);
        if (fence_each || field == FIELDS - 1)
            MPI_Win_fence(0, ring->window); /* place end */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), seed = truth_number(&truth, 4, 1);
    double mean_us = truth_number(&truth, 2, 700), spread = truth_number(&truth, 3, 60) / 100.0, us[FIELDS];
    struct ring ring = {.left = (truth.rank + truth.ranks - 1) % truth.ranks, .right = (truth.rank + 1) % truth.ranks};
    MPI_Aint bytes = 2 * FIELDS * LENGTH * (MPI_Aint)sizeof(double);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &ring.halo, &ring.window);
    MPI_Win_fence(0, ring.window);
    for (long step = 0; step < steps; step++) {
        costs_of(us, mean_us, spread, seed, step, truth.rank);
        advance(&ring, us, truth.mode == SICK);
    }
    MPI_Win_free(&ring.window);
    truth_end(&truth);
}
