/* A box of cells in 3-D with halo exchange; the rank with the flame has a costlier source term, in a virtual method.
 * Some steps leave by an exception, as the last one does.
 *
 * arguments: steps, work of each rank (us), work of the flame (us)
 * disease: imbalance
 * blamed: 2
 * run: 8 smpi=8 args="100 500 3500"
 * run: 27 smpi=27 args="60 1000 3000"
 * run: 64-balance smpi=64 args="60 1000 6000" fix=balance
 * run: 4 real=4 args="100 2000 5000"
 */
#include "truth.h"

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

struct StiffCell : std::domain_error {
    using std::domain_error::domain_error;
};

class Physics {
public:
    virtual ~Physics() = default;
    virtual void source(int step) = 0;
};

class Inert : public Physics {
    double us;

public:
    explicit Inert(double us) : us(us) {}
    void source(int) override { work_us(us); }
};

class Flame : public Physics {
    double us;

public:
    explicit Flame(double us) : us(us) {}
    void source(int step) override
    {
        work_us(us);
        if (step % 10 == 0)
            throw StiffCell("a stiff cell");
    }
};

class Box {
    static constexpr int face = 16 * 16;
    MPI_Comm grid;
    std::array<int, 6> neighbours{};
    std::array<std::vector<double>, 6> out, in;

public:
    explicit Box(MPI_Comm grid) : grid(grid)
    {
        for (int axis = 0; axis < 3; axis++)
            MPI_Cart_shift(grid, axis, 1, &neighbours[2 * axis], &neighbours[2 * axis + 1]);
        for (int side = 0; side < 6; side++) {
            out[side].assign(face, 1);
            in[side].assign(face, 0);
        }
    }
    void exchange()
    {
        std::array<MPI_Request, 12> requests;
        for (int side = 0; side < 6; side++)
            MPI_Irecv(in[side].data(), face, MPI_DOUBLE, neighbours[side], side ^ 1, grid, &requests[side]);
        for (int side = 0; side < 6; side++)
            MPI_Isend(out[side].data(), face, MPI_DOUBLE, neighbours[side], side, grid, &requests[6 + side]);
        MPI_Waitall(12, requests.data(), MPI_STATUSES_IGNORE);
    }
    void step(Physics &physics, int number)
    {
        exchange();
        double change = 1, largest; /* place begin */
        try {
            physics.source(number);
        } catch (const StiffCell &) {
            change = 2;
        }
        MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid); /* place end */
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    double us = truth_number(&truth, 2, 500), flame_us = truth_number(&truth, 3, 3500);
    if (truth.mode == FIX)
        flame_us = us;
    if (truth.mode == BALANCE)
        us = flame_us = us + (flame_us - us) / truth.ranks;
    int sizes[3] = {0, 0, 0}, periodic[3] = {1, 1, 1}, rank;
    MPI_Dims_create(truth.ranks, 3, sizes);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, periodic, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    std::unique_ptr<Physics> physics;
    if (rank == 2)
        physics = std::make_unique<Flame>(flame_us);
    else
        physics = std::make_unique<Inert>(us);
    Box box(grid);
    for (int step = 0; step < steps; step++)
        box.step(*physics, step);
    MPI_Comm_free(&grid);
    truth_end(&truth);
}
