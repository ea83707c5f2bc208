/* Adaptive refinement: a shock runs through a tube, and blocks near it are refined, which are those of two ranks at any time and of
 * others a few steps later. Blocks stay where they are, so whoever has the shock makes all others wait in the agreement on a
 * time step. The fix hands out refined blocks to all ranks again whenever the shock has moved on.
 *
 * arguments: steps, work of each rank on coarse blocks (us), on refined ones near the shock (us), steps until the shock moves on
 * disease: moving-imbalance
 * fix: balance
 * run: 24 smpi=24 args="120 2500 1900 5"
 */
#include "truth.h"

#include <array>

enum { GHOSTS = 150 };

class Tube {
    const struct truth &truth;
    double coarse_us, refined_us;
    long stays;
    std::array<std::array<double, GHOSTS>, 4> ghosts{};

public:
    Tube(const struct truth &truth, double coarse_us, double refined_us, long stays)
        : truth(truth), coarse_us(coarse_us), refined_us(refined_us), stays(stays)
    {
    }
    int front(long step) const { return (int)(step / stays) % truth.ranks; }
    double refined(long step) const
    {
        if (truth.mode != SICK)
            return 2 * refined_us / truth.ranks;
        int behind = (truth.rank - front(step) + truth.ranks) % truth.ranks;
        return behind < 2 ? refined_us : 0;
    }
    void fill_ghosts()
    {
        int left = truth.rank > 0 ? truth.rank - 1 : MPI_PROC_NULL;
        int right = truth.rank < truth.ranks - 1 ? truth.rank + 1 : MPI_PROC_NULL;
        MPI_Request all[4];
        MPI_Irecv(ghosts[0].data(), GHOSTS, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(ghosts[1].data(), GHOSTS, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &all[1]);
        MPI_Isend(ghosts[2].data(), GHOSTS, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &all[2]);
        MPI_Isend(ghosts[3].data(), GHOSTS, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &all[3]);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    }
    void advance(long step)
    {
        work_us(coarse_us * (0.98 + 0.04 * chance(42, (uint64_t)step, (uint64_t)truth.rank))); // place begin
        work_us(refined(step)); // place end
    }
};

static double agree(double dt)
{
    double shortest;
    MPI_Allreduce(&dt, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD); // the place
    return shortest;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 120);
    Tube tube(truth, truth_number(&truth, 2, 2500), truth_number(&truth, 3, 1900), truth_number(&truth, 4, 5));
    double dt = 1;
    for (long step = 0; step < steps; step++) {
        tube.fill_ghosts();
        tube.advance(step); // place begin
        dt = agree(dt); // place end
    }
    truth_end(&truth);
}
