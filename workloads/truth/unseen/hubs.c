/* Breadth-first search, level by level, in a graph that a few vertices with very many edges hold together. Vertices are spread
 * over ranks; in most levels somebody comes upon a hub and has all of its edges to look at, another rank each time, while all
 * others wait for it to exchange what was found. The fix has the edges of hubs on all ranks, each with its share.
 *
 * arguments: searches, work of each rank in the widest level (us), edges of a hub (us), seed
 * disease: random-imbalance moving-imbalance
 * run: 16 smpi=16 args="40 2500 1900 seed"
 */
#include "truth.h"

enum { LEVELS = 6, FOUND = 30 };

struct frontier {
    int ranks, *counts, *coming, *at, *from, *out, *in;
};

static struct frontier make_frontier(int ranks)
{
    struct frontier frontier = {.ranks = ranks};
    int **arrays[] = {&frontier.counts, &frontier.coming, &frontier.at, &frontier.from};
    for (int which = 0; which < 4; which++)
        *arrays[which] = calloc((size_t)ranks, sizeof(int));
    frontier.out = calloc((size_t)(ranks * FOUND), sizeof(int));
    frontier.in = calloc((size_t)(ranks * FOUND), sizeof(int));
    for (int rank = 0; rank < ranks; rank++)
        frontier.at[rank] = frontier.from[rank] = rank * FOUND;
    return frontier;
}

static double edges_us(const struct truth *truth, long level, double widest_us, double hub_us, long seed)
{
    static const double width[LEVELS] = {0.3, 0.7, 1.0, 0.9, 0.6, 0.4};
    double us = widest_us * width[level % LEVELS] * (0.97 + 0.06 * chance(25, (uint64_t)level, (uint64_t)truth->rank));
    int with_hub = (int)(chance((uint64_t)seed, (uint64_t)level, 1) * truth->ranks);
    if (truth->mode != SICK)
        return us + hub_us / truth->ranks;
    return truth->rank == with_hub ? us + hub_us : us;
}

static void exchange_found(struct frontier *frontier, long level)
{
    for (int rank = 0; rank < frontier->ranks; rank++)
        frontier->counts[rank] = (int)(chance(26, (uint64_t)level, (uint64_t)rank) * FOUND);
    MPI_Alltoall(frontier->counts, 1, MPI_INT, frontier->coming, 1, MPI_INT, MPI_COMM_WORLD); /* the place */
    MPI_Alltoallv(frontier->out, frontier->counts, frontier->at, MPI_INT, frontier->in, frontier->coming, frontier->from, MPI_INT,
                  MPI_COMM_WORLD);
}

static int somebody_goes_on(int mine)
{
    int any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return any;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long searches = truth_number(&truth, 1, 40), seed = truth_number(&truth, 4, 1);
    double widest_us = truth_number(&truth, 2, 2500), hub_us = truth_number(&truth, 3, 1900);
    struct frontier frontier = make_frontier(truth.ranks);
    for (long search = 0; search < searches; search++) {
        long level = search * LEVELS;
        do {
            work_us(edges_us(&truth, level, widest_us, hub_us, seed)); /* place begin */
            exchange_found(&frontier, level); /* place end */
            level++;
        } while (somebody_goes_on(level % LEVELS != 0));
    }
    truth_end(&truth);
}
