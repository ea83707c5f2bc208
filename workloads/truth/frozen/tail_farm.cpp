/* Docking of molecules in rounds: a master hands out molecules one by one to whoever is free, in the order of its list, which
 * goes by size. The largest take many times as long as the others and come last, when there is nothing else left to do
 * meanwhile. Then the best ones are chosen together. With the largest first, all end at nearly the same time.
 *
 * arguments: rounds, small molecules, work on one (us), large molecules, work on one (us), seed
 * disease: task-farm-tail random-imbalance moving-imbalance
 * run: 12 smpi=12 args="40 66 500 4 5000 seed"
 * run: 4 real=4 args="20 18 2000 1 14000 seed"
 */
#include "truth.h"

#include <algorithm>
#include <vector>

enum { ASK = 1, TAKE = 2 };

class Library {
    std::vector<double> us;

public:
    Library(long small, double small_us, long large, double large_us, long seed, long round)
    {
        for (long i = 0; i < small; i++)
            us.push_back(small_us * (0.6 + 0.8 * chance(seed, round, i)));
        for (long i = 0; i < large; i++)
            us.push_back(large_us * (0.95 + 0.1 * chance(seed, round, small + i)));
        std::sort(us.begin(), us.end());
    }
    void largest_first() { std::reverse(us.begin(), us.end()); }
    const std::vector<double> &in_order() const { return us; }
};

static void answer(double us)
{
    MPI_Status status;
    MPI_Recv(nullptr, 0, MPI_DOUBLE, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
    MPI_Send(&us, 1, MPI_DOUBLE, status.MPI_SOURCE, TAKE, MPI_COMM_WORLD);
}

static void hand_out(const std::vector<double> &molecules, int workers)
{
    for (double us : molecules) /* place begin */
        answer(us);             /* place end */
    for (int worker = 0; worker < workers; worker++)
        answer(-1);
}

static double next_molecule()
{
    double us;
    MPI_Send(nullptr, 0, MPI_DOUBLE, 0, ASK, MPI_COMM_WORLD); /* the place */
    MPI_Recv(&us, 1, MPI_DOUBLE, 0, TAKE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return us;
}

static double choose_best(double mine)
{
    double best;
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* the place */
    return best;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long rounds = truth_number(&truth, 1, 24), seed = truth_number(&truth, 6, 1);
    for (long round = 0; round < rounds; round++) {
        if (truth.rank == 0) {
            Library library(truth_number(&truth, 2, 66), truth_number(&truth, 3, 500), truth_number(&truth, 4, 4),
                            truth_number(&truth, 5, 5000), seed, round);
            if (truth.mode != SICK)
                library.largest_first();
            hand_out(library.in_order(), truth.ranks - 1);
        } else {
            for (double us; (us = next_molecule()) >= 0;) /* place begin */
                work_us(us);                              /* place end */
        }
        choose_best(truth.rank);
    }
    truth_end(&truth);
}
