/* Nothing is wrong: a stencil on a grid of ranks in 2-D with persistent requests. The inside is computed while edges travel; a
 * residual is added up by a collective that nobody waits for until the step behind.
 *
 * arguments: steps, work on the inside (us), work on the edges (us), doubles of an edge
 * run: 20 smpi=20 args="90 4000 600 4000"
 */
#include "truth.h"

#include <vector>

class Plate {
    MPI_Comm grid;
    MPI_Request edges[8], residual = MPI_REQUEST_NULL;
    std::vector<double> out, in;
    double mine = 1, all = 0;

public:
    Plate(int ranks, int length) : out((std::size_t)(4 * length)), in(out.size())
    {
        int sizes[2] = {0, 0}, around[2] = {1, 1}, beside[4];
        MPI_Dims_create(ranks, 2, sizes);
        MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &grid);
        MPI_Cart_shift(grid, 0, 1, &beside[0], &beside[1]);
        MPI_Cart_shift(grid, 1, 1, &beside[2], &beside[3]);
        for (int side = 0; side < 4; side++) {
            MPI_Recv_init(&in[(std::size_t)(side * length)], length, MPI_DOUBLE, beside[side], side ^ 1, grid, &edges[side]);
            MPI_Send_init(&out[(std::size_t)(side * length)], length, MPI_DOUBLE, beside[side], side, grid, &edges[4 + side]);
        }
    }
    ~Plate()
    {
        for (MPI_Request &edge : edges)
            MPI_Request_free(&edge);
        MPI_Comm_free(&grid);
    }
    void advance(double inside_us, double edges_us)
    {
        MPI_Startall(8, edges);
        work_us(inside_us);
        MPI_Waitall(8, edges, MPI_STATUSES_IGNORE);
        work_us(edges_us);
    }
    double residual_before()
    {
        double before;
        MPI_Wait(&residual, MPI_STATUS_IGNORE);
        before = all;
        MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid, &residual);
        return before;
    }
    void finish() { MPI_Wait(&residual, MPI_STATUS_IGNORE); }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 90);
    double inside_us = truth_number(&truth, 2, 4000), edges_us = truth_number(&truth, 3, 600);
    {
        Plate plate(truth.ranks, (int)truth_number(&truth, 4, 4000));
        for (long step = 0; step < steps; step++) {
            double spread = 0.98 + 0.04 * chance(47, (uint64_t)step, (uint64_t)truth.rank);
            plate.advance(inside_us * spread, edges_us * spread);
            plate.residual_before();
        }
        plate.finish();
    }
    truth_end(&truth);
}
