/* An atmosphere and an ocean, each on ranks of its own, that swap fluxes through their first ranks in every coupling interval.
 * The atmosphere has got too few ranks, so that its four short steps take longer than the ocean's two long ones, and the ocean
 * waits for its fluxes. (There is a smaller second disease: the first rank of the ocean writes a restart file alone every tenth
 * interval. The fix leaves that as it is, and gives the atmosphere ranks enough.)
 *
 * arguments: intervals, one of four steps of the atmosphere (us), of the atmosphere with ranks enough (us), one of two steps of
 *            the ocean (us), writing the restart file (us), ranks of the atmosphere
 * disease: imbalance slow-ranks late-sender
 * run: 16 smpi=16 args="90 1250 770 1500 4000 6" blamed=0-5
 */
#include "truth.h"

enum { EDGE = 300, FLUXES = 40, OFTEN = 10 };

struct component {
    MPI_Comm comm;
    int atmosphere, rank, ranks, other_leader;
    double us, *gathered, mine[FLUXES], all[FLUXES], halo[EDGE], edge[EDGE];
};

static struct component make_component(const struct truth *truth, int border)
{
    struct component it = {.atmosphere = truth->rank < border};
    MPI_Comm_split(MPI_COMM_WORLD, it.atmosphere, truth->rank, &it.comm);
    MPI_Comm_rank(it.comm, &it.rank);
    MPI_Comm_size(it.comm, &it.ranks);
    it.other_leader = it.atmosphere ? border : 0;
    it.gathered = calloc((size_t)it.ranks * FLUXES, sizeof(double));
    return it;
}

static void halo(struct component *it)
{
    MPI_Sendrecv(it->edge, EDGE, MPI_DOUBLE, (it->rank + 1) % it->ranks, 3, it->halo, EDGE, MPI_DOUBLE,
                 (it->rank + it->ranks - 1) % it->ranks, 3, it->comm, MPI_STATUS_IGNORE);
}

static void integrate(struct component *it, int parts, long interval, int rank)
{
    for (int part = 0; part < parts; part++) {
        work_us(it->us * (0.97 + 0.06 * chance(21, (uint64_t)(interval * parts + part), (uint64_t)rank))); /* place begin */
        halo(it); /* place end */
    }
}

static void couple(struct component *it)
{
    MPI_Gather(it->mine, FLUXES, MPI_DOUBLE, it->gathered, FLUXES, MPI_DOUBLE, 0, it->comm); /* place begin */
    if (it->rank == 0)
        MPI_Sendrecv(it->gathered, FLUXES, MPI_DOUBLE, it->other_leader, 9, it->all, FLUXES, MPI_DOUBLE, it->other_leader, 9,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(it->all, FLUXES, MPI_DOUBLE, 0, it->comm); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long intervals = truth_number(&truth, 1, 90);
    double sick_us = truth_number(&truth, 2, 1250), fix_us = truth_number(&truth, 3, 770);
    double ocean_us = truth_number(&truth, 4, 1500), write_us = truth_number(&truth, 5, 4000);
    struct component it = make_component(&truth, (int)truth_number(&truth, 6, 6));
    it.us = !it.atmosphere ? ocean_us : truth.mode == SICK ? sick_us : fix_us;
    for (long interval = 0; interval < intervals; interval++) {
        integrate(&it, it.atmosphere ? 4 : 2, interval, truth.rank); /* the place */
        couple(&it); /* the place */
        if (!it.atmosphere && it.rank == 0 && interval % OFTEN == OFTEN - 1)
            work_us(write_us);
    }
    MPI_Comm_free(&it.comm);
    truth_end(&truth);
}
