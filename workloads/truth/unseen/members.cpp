/* An ensemble: five members of four ranks each, which solve for their pressure in a communicator of their own until it has converged,
 * and then compute mean and spread over all members, part by part. One member has got other parameters and needs
 * more iterations than all others, which wait for it in the mean. The fix scales its equations, so that it needs as many
 * as the others.
 *
 * arguments: steps, one iteration (us), iterations, additional iterations of one member, this member
 * disease: imbalance slow-ranks
 * run: 20 smpi=20 args="50 350 18 12 2" blamed=8-11
 */
#include "truth.h"

#include <vector>

enum { SIZE = 4, PART = 120 };

class Member {
    MPI_Comm comm;
    double us;
    int world_rank;

public:
    Member(const struct truth &truth, double us) : us(us), world_rank(truth.rank)
    {
        MPI_Comm_split(MPI_COMM_WORLD, truth.rank / SIZE, truth.rank, &comm);
    }
    ~Member() { MPI_Comm_free(&comm); }
    double iterate(long number)
    {
        double mine = 1.0 / (1.0 + (double)number), all;
        work_us(us * (0.97 + 0.06 * chance(41, (uint64_t)number, (uint64_t)world_rank))); // place begin
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm); // place end
        return all;
    }
    void solve(long step, long iterations)
    {
        for (long number = 0; number < iterations; number++) // place begin
            if (iterate(1000 * step + number) == 0)
                break; // place end
    }
};

class Statistics {
    MPI_Comm across;
    std::vector<double> mean;

public:
    explicit Statistics(const struct truth &truth) : mean(PART)
    {
        MPI_Comm_split(MPI_COMM_WORLD, truth.rank % SIZE, truth.rank, &across);
    }
    ~Statistics() { MPI_Comm_free(&across); }
    void add(const std::vector<double> &field)
    {
        MPI_Allreduce(field.data(), mean.data(), PART, MPI_DOUBLE, MPI_SUM, across); // the place
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50), iterations = truth_number(&truth, 3, 18);
    if (truth.mode == SICK && truth.rank / SIZE == truth_number(&truth, 5, 2))
        iterations += truth_number(&truth, 4, 12);
    {
        Member member(truth, truth_number(&truth, 2, 350));
        Statistics statistics(truth);
        std::vector<double> field(PART, 1.0);
        for (long step = 0; step < steps; step++) {
            member.solve(step, iterations); // place begin
            statistics.add(field); // place end
        }
    }
    truth_end(&truth);
}
