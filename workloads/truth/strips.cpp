/* A grid of two rows of ranks; neighbours above each other exchange much, neighbours beside each other little. Ranks are
 * dealt out row by row, so each row is in a cabinet of its own and all heavy exchange goes over the slow line between.
 * Dealt out column by column, heavy pairs stay together.
 *
 * arguments: steps, work of each rank (us), doubles between rows, doubles between columns
 * disease: placement
 * run: 2x6 smpi=12 args="30 3000 10000 50" net=cabinets
 * run: 2x16 smpi=32 args="25 4000 4000 50" net=cabinets
 */
#include "truth.h"

#include <vector>

struct Node {
    int row, column, columns;
    bool by_rows;
    int at(int r, int c) const
    {
        if (c < 0 || c >= columns)
            return MPI_PROC_NULL;
        return by_rows ? r * columns + c : 2 * c + r;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 30);
    double us = truth_number(&truth, 2, 3000);
    int much = (int)truth_number(&truth, 3, 10000), little = (int)truth_number(&truth, 4, 50);
    int columns = truth.ranks / 2;
    bool by_rows = truth.mode == SICK;
    Node node{by_rows ? truth.rank / columns : truth.rank % 2, by_rows ? truth.rank % columns : truth.rank / 2, columns,
              by_rows};
    int other = node.at(1 - node.row, node.column), right = node.at(node.row, node.column + 1),
        left = node.at(node.row, node.column - 1);
    std::vector<double> out(much), in(much), edge(little), halo(little);
    for (long step = 0; step < steps; step++) {
        MPI_Request requests[6];
        work_us(us);
        MPI_Irecv(in.data(), much, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]); /* place begin */
        MPI_Irecv(halo.data(), little, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(halo.data(), little, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out.data(), much, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[3]);
        MPI_Isend(edge.data(), little, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[4]);
        MPI_Isend(edge.data(), little, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[5]);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE); /* place end */
    }
    truth_end(&truth);
}
