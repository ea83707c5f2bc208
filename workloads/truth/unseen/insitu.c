/* A simulation that hands its field to analysis while it runs: the last rank of each node takes the fields of the other ranks of
 * its node and looks for vortices in them. That takes longer than a step, so they find nobody who takes their fields (which
 * are too large to be buffered), and wait. The fix looks at every other point, which takes half as long.
 *
 * arguments: steps, work of each rank of the simulation (us), analysis of all fields of a node (us), ranks of a node,
 *            doubles of a field
 * disease: late-receiver imbalance late-post
 * run: 18 smpi=18 args="80 4000 6200 9 9000" blamed=8,17
 */
#include "truth.h"

enum { FIELD = 77, EDGE = 100 };

struct node {
    MPI_Comm comm, model;
    int rank, analyst, neighbour, behind;
};

static struct node find_node(const struct truth *truth, int size)
{
    struct node node = {.analyst = size - 1};
    int ranks, rank;
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank / size, truth->rank, &node.comm);
    MPI_Comm_rank(node.comm, &node.rank);
    MPI_Comm_split(MPI_COMM_WORLD, node.rank == node.analyst, truth->rank, &node.model);
    MPI_Comm_rank(node.model, &rank);
    MPI_Comm_size(node.model, &ranks);
    node.neighbour = (rank + 1) % ranks;
    node.behind = (rank + ranks - 1) % ranks;
    return node;
}

static void analyse(const struct node *node, double *fields, int length, long steps, double us)
{
    for (long step = 0; step < steps; step++) {
        for (int from = 0; from < node->analyst; from++)
            MPI_Recv(fields + from * length, length, MPI_DOUBLE, from, FIELD, node->comm, MPI_STATUS_IGNORE); /* the place */
        work_us(us * (0.98 + 0.04 * chance(27, (uint64_t)step, (uint64_t)node->behind))); /* the place */
    }
}

static void hand_over(const struct node *node, const double *field, int length)
{
    MPI_Send(field, length, MPI_DOUBLE, node->analyst, FIELD, node->comm); /* the place */
}

static void simulate(const struct node *node, const double *field, int length, long steps, double us, int rank)
{
    double halo[EDGE];
    for (long step = 0; step < steps; step++) {
        work_us(us * (0.97 + 0.06 * chance(28, (uint64_t)step, (uint64_t)rank)));
        MPI_Sendrecv(field, EDGE, MPI_DOUBLE, node->neighbour, 1, halo, EDGE, MPI_DOUBLE, node->behind, 1, node->model,
                     MPI_STATUS_IGNORE);
        hand_over(node, field, length); /* the place */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    double us = truth_number(&truth, 2, 4000), analysis_us = truth_number(&truth, 3, 6200);
    int length = (int)truth_number(&truth, 5, 9000);
    struct node node = find_node(&truth, (int)truth_number(&truth, 4, 9));
    double *fields = calloc((size_t)length * (size_t)(node.analyst + 1), sizeof(double));
    if (node.rank == node.analyst)
        analyse(&node, fields, length, steps, truth.mode == SICK ? analysis_us : analysis_us / 2);
    else
        simulate(&node, fields, length, steps, us, truth.rank);
    free(fields);
    truth_end(&truth);
}
