/* A sort by samples: ranks look at their keys, send each to the rank whose bucket it belongs to, and then count what they
 * have. Splitters come from the first batch of keys, in which there were few of the kind that all later ones have many of:
 * more than half of all keys now go to the same rank, and everybody waits until it has them. Counting is as long for few
 * keys as for many.
 *
 * arguments: steps, work of each rank before and behind the exchange (us), keys of each rank, part that goes to one rank (%),
 *            that rank
 * disease: hot-receiver transfer alltoall
 * run: 16 smpi=16 args="50 6000 50000 60 5" blamed=5
 */
#include "truth.h"

struct exchange {
    int *counts, *places, *coming, *from;
    double *out, *in;
};

static int *sums_of(const int *counts, int length)
{
    int *places = calloc((size_t)length + 1, sizeof(int));
    for (int i = 0; i < length; i++)
        places[i + 1] = places[i] + counts[i];
    return places;
}

/* How many keys go to each rank: a part of them to one, the rest to all others. */
static void fill_buckets(const struct truth *truth, int *counts, long keys, double part, long hot)
{
    for (int to = 0; to < truth->ranks; to++) {
        double share = truth->mode == SICK ? (to == hot ? part : (1 - part) / (truth->ranks - 1)) : 1.0 / truth->ranks;
        counts[to] = (int)((double)keys * share);
    }
}

static struct exchange plan(const struct truth *truth, long keys, double part, long hot)
{
    size_t ranks = (size_t)truth->ranks;
    struct exchange plan = {.counts = calloc(ranks, sizeof(int)), .coming = calloc(ranks, sizeof(int))};
    fill_buckets(truth, plan.counts, keys, part, hot);
    MPI_Alltoall(plan.counts, 1, MPI_INT, plan.coming, 1, MPI_INT, MPI_COMM_WORLD);
    plan.places = sums_of(plan.counts, truth->ranks);
    plan.from = sums_of(plan.coming, truth->ranks);
    plan.out = calloc((size_t)plan.places[truth->ranks] + 1, sizeof(double));
    plan.in = calloc((size_t)plan.from[truth->ranks] + 1, sizeof(double));
    return plan;
}

static void send_to_buckets(struct exchange *plan)
{
    MPI_Alltoallv(plan->out, plan->counts, plan->places, MPI_DOUBLE, plan->in, plan->coming, plan->from, /* place begin */
                  MPI_DOUBLE, MPI_COMM_WORLD); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50), keys = truth_number(&truth, 3, 50000);
    double us = truth_number(&truth, 2, 2500), part = truth_number(&truth, 4, 60) / 100.0;
    struct exchange buckets = plan(&truth, keys, part, truth_number(&truth, 5, 5));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        send_to_buckets(&buckets); /* the place */
        work_us(us);
    }
    truth_end(&truth);
}
