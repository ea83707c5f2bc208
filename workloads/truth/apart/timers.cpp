/* A climate model whose columns are dealt out so that dynamics and physics together take as long on each rank; ranks with
 * much of the one have little of the other. A class that takes times has a barrier before each part, so that the times are
 * clean, and so everybody waits for the longest dynamics and then for the longest physics. Without it, only neighbours
 * that exchange wait for each other.
 *
 * arguments: steps, dynamics and physics together (us), by how much physics differs (%), seed
 * disease: needless-barrier
 * run: 16 smpi=16 args="80 4000 30 seed"
 * run: 64 smpi=64 args="40 6000 20 seed"
 * run: 4 real=4 args="60 8000 40 6"
 */
#include "truth.h"

#include <vector>

namespace timing {

bool clean = true;

class Timer {
    double began, &sum;

public:
    explicit Timer(double &sum) : sum(sum)
    {
        if (clean)
            MPI_Barrier(MPI_COMM_WORLD); /* the place */
        began = MPI_Wtime();
    }
    ~Timer() { sum += MPI_Wtime() - began; }
};

} // namespace timing

struct Model {
    double dynamics_us, physics_us, dynamics_s = 0, physics_s = 0;
    int right, left;
    std::vector<double> out, in;

    void dynamics()
    {
        timing::Timer timer(dynamics_s);
        work_us(dynamics_us);
    }
    void physics()
    {
        timing::Timer timer(physics_s);
        work_us(physics_us);
    }
    void exchange()
    {
        int length = (int)out.size() / 2;
        MPI_Sendrecv(&out[0], length, MPI_DOUBLE, right, 0, &in[0], length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&out[length], length, MPI_DOUBLE, left, 1, &in[length], length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80), seed = truth_number(&truth, 4, 1);
    double us = truth_number(&truth, 2, 4000), differs = truth_number(&truth, 3, 30) / 100.0;
    double physics = 0.5 + differs * (2 * chance(seed, 0, truth.rank) - 1);
    Model model = {(1 - physics) * us, physics * us, 0, 0, (truth.rank + 1) % truth.ranks,
                   (truth.rank + truth.ranks - 1) % truth.ranks, std::vector<double>(600), std::vector<double>(600)};
    timing::clean = truth.mode == SICK;
    for (long step = 0; step < steps; step++) {
        model.dynamics();
        model.physics();
        model.exchange();
    }
    truth_end(&truth);
}
