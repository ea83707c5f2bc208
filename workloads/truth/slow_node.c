/* All ranks of one node are slower than the others, in each of three kernels. Behind each kernel is a sum in two levels: in
 * the node, among the leaders of nodes, and back. It is one cause in three places: the gain of the fix, where that node is
 * as fast as the others, is that of all three.
 *
 * arguments: steps, work of each rank in the kernels (three times, us), by how much the slow node is slower (%),
 *            ranks of a node, the slow node
 * disease: imbalance slow-ranks
 * run: 16 smpi=16 args="60 2000 1500 1000 40 4 2" blamed=8-11
 * run: 4 real=4 args="60 6000 4500 3000 60 2 1" blamed=2-3
 */
#include "truth.h"

struct node {
    MPI_Comm ranks, leaders;
    int leads;
};

static void sum_in_two_levels(const struct node *node)
{
    double mine = 1, sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, node->ranks); /* place begin */
    if (node->leads)
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, node->leaders);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, node->ranks); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), percent = truth_number(&truth, 5, 40);
    int size = (int)truth_number(&truth, 6, 4), slow = (int)truth_number(&truth, 7, 2), number = truth.rank / size;
    double first_us = truth_number(&truth, 2, 2000), second_us = truth_number(&truth, 3, 1500);
    double third_us = truth_number(&truth, 4, 1000);
    double factor = truth.mode == SICK && number == slow ? 1 + (double)percent / 100 : 1;
    struct node node = {MPI_COMM_NULL, MPI_COMM_NULL, truth.rank % size == 0};
    MPI_Comm_split(MPI_COMM_WORLD, number, truth.rank, &node.ranks);
    MPI_Comm_split(MPI_COMM_WORLD, node.leads ? 0 : MPI_UNDEFINED, truth.rank, &node.leaders);
    for (long step = 0; step < steps; step++) {
        work_us(first_us * factor); /* place begin */
        sum_in_two_levels(&node);
        work_us(second_us * factor);
        sum_in_two_levels(&node);
        work_us(third_us * factor);
        sum_in_two_levels(&node); /* place end */
    }
    truth_end(&truth);
}
