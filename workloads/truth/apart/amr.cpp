/* Gas with a shock on a grid of ranks in 2-D: a time step is hydrodynamics with halo exchange, gravity with a sum over all,
 * and cooling, and then all agree on the next time step. Every so many steps cells are flagged by everybody, but only the
 * ranks around the shock have patches of which they make new ones, and all wait to hear how many there are.
 *
 * arguments: steps, work of each rank in a step (us), making patches anew (us), every how many steps, first and last rank
 *            with patches
 * disease: rare-imbalance imbalance
 * run: 16 smpi=16 args="90 3000 18000 6 5 6" blamed=5-6
 * run: 48-balance smpi=48 args="80 2500 30000 10 20 23" blamed=20-23 fix=balance
 * run: 4 real=4 args="72 4000 30000 6 2 2" blamed=2
 */
#include "truth.h"

#include <vector>

class Mesh {
    MPI_Comm grid;
    int beside[4];
    std::vector<double> edges, halos;

public:
    explicit Mesh(int ranks, int length) : edges(4 * length), halos(4 * length)
    {
        int sizes[2] = {0, 0}, around[2] = {1, 1};
        MPI_Dims_create(ranks, 2, sizes);
        MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &grid);
        MPI_Cart_shift(grid, 0, 1, &beside[0], &beside[1]);
        MPI_Cart_shift(grid, 1, 1, &beside[2], &beside[3]);
    }
    void exchange()
    {
        MPI_Request requests[8];
        int length = (int)edges.size() / 4;
        for (int side = 0; side < 4; side++) {
            MPI_Irecv(&halos[side * length], length, MPI_DOUBLE, beside[side], side ^ 1, grid, &requests[side]);
            MPI_Isend(&edges[side * length], length, MPI_DOUBLE, beside[side], side, grid, &requests[4 + side]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
};

class Shock {
    const struct truth &truth;
    double us;
    long first, last;
    std::vector<int> patches;

public:
    Shock(const struct truth &truth, double us, long first, long last)
        : truth(truth), us(us), first(first), last(last), patches(truth.ranks) {}
    double share_us() const
    {
        bool mine = truth.rank >= first && truth.rank <= last;
        if (truth.mode == BALANCE)
            return us * (double)(last - first + 1) / truth.ranks;
        return truth.mode == SICK && mine ? us : 0;
    }
    void regrid()
    {
        int here = truth.rank >= first && truth.rank <= last ? 8 : 0;
        work_us(300); /* place begin */
        work_us(share_us());
        MPI_Allgather(&here, 1, MPI_INT, patches.data(), 1, MPI_INT, MPI_COMM_WORLD); /* place end */
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 90), every = truth_number(&truth, 4, 6);
    double us = truth_number(&truth, 2, 3000), mass = 1, sum, dt = 1, next;
    Mesh mesh(truth.ranks, 400);
    Shock shock(truth, truth_number(&truth, 3, 18000), truth_number(&truth, 5, 5), truth_number(&truth, 6, 6));
    for (long step = 0; step < steps; step++) {
        mesh.exchange();
        work_us(0.5 * us);
        MPI_Allreduce(&mass, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work_us(0.3 * us);
        work_us(0.2 * us);
        MPI_Allreduce(&dt, &next, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        if (step % every == every - 1)
            shock.regrid();
    }
    truth_end(&truth);
}
