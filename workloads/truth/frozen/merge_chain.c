/* A search with a list of best candidates on each rank. Behind each step the lists are merged into one: the first rank sends
 * its own to the second, which merges and sends to the third, and so on; the last one tells everybody. Merging takes a
 * while. A reduction with merging as its operation merges pairs at the same time.
 *
 * arguments: steps, work of each rank (us), merging two lists (us)
 * disease: collection-loop serialised-section pipeline-fill
 * run: 16 smpi=16 args="60 3500 150" cfg=smpi/reduce:binomial
 */
#include "truth.h"

enum { CANDIDATES = 64 };

struct list {
    double score[CANDIDATES];
};

static double merging_us;

static void merge(const struct list *from, struct list *into)
{
    work_us(merging_us);
    for (int i = 0; i < CANDIDATES; i++)
        into->score[i] = from->score[i] > into->score[i] ? from->score[i] : into->score[i];
}

static void merge_lists(void *from, void *into, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        merge((struct list *)from + i, (struct list *)into + i);
}

static void merge_along_chain(const struct truth *truth, struct list *best, MPI_Datatype type)
{
    struct list other;
    if (truth->rank > 0) {
        MPI_Recv(&other, 1, type, truth->rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* place begin */
        merge(&other, best);
    }
    if (truth->rank + 1 < truth->ranks)
        MPI_Send(best, 1, type, truth->rank + 1, 0, MPI_COMM_WORLD); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 3500);
    struct list mine = {{0}}, best;
    MPI_Datatype type;
    MPI_Op operation;
    merging_us = truth_number(&truth, 3, 150);
    MPI_Type_contiguous(CANDIDATES, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(merge_lists, 1, &operation);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        mine.score[step % CANDIDATES] = chance(1, step, truth.rank);
        best = mine;
        if (truth.mode == SICK)
            merge_along_chain(&truth, &best, type);
        else
            MPI_Reduce(&mine, &best, 1, type, operation, truth.ranks - 1, MPI_COMM_WORLD);
        MPI_Bcast(&best, 1, type, truth.ranks - 1, MPI_COMM_WORLD); /* the place */
    }
    MPI_Op_free(&operation);
    MPI_Type_free(&type);
    truth_end(&truth);
}
