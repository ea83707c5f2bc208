/* Flow with chemistry. Two things are wrong: the flame is in the part of one rank, whose chemistry is stiff, and all others
 * wait for it where they agree on a time step; and the norms of all species are added up one by one, which costs less. The
 * fix is for the flame only.
 *
 * arguments: steps, work of each rank on flow (us), on chemistry (us), additional chemistry of the flame (us), its rank,
 *            species
 * disease: imbalance
 * run: 16 smpi=16 args="60 1500 1000 2000 9 30" blamed=9
 * run: 4 real=4 args="50 4000 3000 6000 2 30" blamed=2
 */
#include "truth.h"

#include <vector>

class Flow {
    int left, right;
    double us;
    std::vector<double> out, in;

public:
    Flow(const struct truth &truth, double us)
        : left((truth.rank + truth.ranks - 1) % truth.ranks), right((truth.rank + 1) % truth.ranks), us(us), out(400), in(400)
    {
    }
    void advance()
    {
        MPI_Request both[2];
        MPI_Irecv(in.data(), (int)in.size(), MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out.data(), (int)out.size(), MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &both[1]);
        work_us(us);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
};

class Chemistry {
    double us;
    std::vector<double> norms;

public:
    Chemistry(double us, long species) : us(us), norms(species, 1.0) {}
    double react(double dt)
    {
        double shortest;
        work_us(us); /* place begin */
        MPI_Allreduce(&dt, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD); /* place end */
        return shortest;
    }
    double norm_of_all()
    {
        double largest = 0;
        for (double mine : norms) {
            double sum;
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            largest = sum > largest ? sum : largest;
        }
        return largest;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    bool flame = truth.mode == SICK && truth.rank == truth_number(&truth, 5, 9);
    Flow flow(truth, truth_number(&truth, 2, 1500));
    Chemistry chemistry(truth_number(&truth, 3, 1000) + (flame ? truth_number(&truth, 4, 2000) : 0), truth_number(&truth, 6, 30));
    double dt = 1;
    for (long step = 0; step < steps; step++) {
        flow.advance();
        dt = chemistry.react(dt);
        if (chemistry.norm_of_all() <= 0)
            break;
    }
    truth_end(&truth);
}
