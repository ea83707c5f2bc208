/* A mesh whose parts differ by a few percent as it moves. Every fourth step the first rank gathers how long each part took,
 * makes a new partition, and broadcasts it; all others wait for it, and then move their cells. That costs far more than
 * they would lose. The fixed run does it every fortieth step.
 *
 * arguments: steps, work of each rank (us), how much a part's work grows or shrinks until the next partition (thousandths of
 *            it, for each step), making a partition (us), every how many steps, every how many in the fixed run
 * disease: rare-imbalance late-root imbalance
 * blamed: 0
 * run: 16 smpi=16 args="80 3000 1 6000 4 40"
 * run: 4 real=4 args="60 5000 1 12000 4 30"
 */
#include "truth.h"

#include <numeric>
#include <vector>

class Partition {
    std::vector<double> took;
    std::vector<int> first;

public:
    explicit Partition(int ranks) : took(ranks), first(ranks + 1) {}
    void make(int rank, double took_us, double making_us)
    {
        MPI_Gather(&took_us, 1, MPI_DOUBLE, took.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            work_us(making_us); /* place begin */
            std::iota(first.begin(), first.end(), 0);
        }
        MPI_Bcast(first.data(), (int)first.size(), MPI_INT, 0, MPI_COMM_WORLD); /* place end */
    }
};

class Mesh {
    int rank, ranks;
    double us, per_step;
    long since = 0;
    std::vector<double> leaving, coming;

public:
    Mesh(const struct truth &truth, double us, double per_step)
        : rank(truth.rank), ranks(truth.ranks), us(us), per_step(per_step), leaving(300), coming(300)
    {
    }
    /* Some parts grow, some shrink, the longer the partition is old. */
    double step_us() const { return us * (1 + per_step * (double)since * (2.0 * rank / (ranks - 1) - 1)); }
    void exchange(int tag)
    {
        MPI_Sendrecv(leaving.data(), (int)leaving.size(), MPI_DOUBLE, (rank + 1) % ranks, tag, coming.data(), (int)coming.size(),
                     MPI_DOUBLE, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void advance()
    {
        work_us(step_us());
        exchange(1);
        since++;
    }
    void move_cells()
    {
        work_us(0.05 * us);
        exchange(2);
        since = 0;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80), every = truth_number(&truth, truth.mode == SICK ? 5 : 6, 4);
    double making_us = truth_number(&truth, 4, 6000);
    Mesh mesh(truth, truth_number(&truth, 2, 3000), truth_number(&truth, 3, 1) / 1000.0);
    Partition partition(truth.ranks);
    for (long step = 0; step < steps; step++) {
        mesh.advance();
        if (step % every == every - 1) {
            partition.make(truth.rank, mesh.step_us(), making_us); /* the place */
            mesh.move_cells();
        }
    }
    truth_end(&truth);
}
