/* Transport with cross sections that are too large for each rank, as its author thought: rank 0 has them and answers whoever
 * asks, for absorption and for scattering in each step. It searches for a while for each answer, and so many ask that they
 * queue. In the fixed run each rank has a copy and searches in it.
 *
 * arguments: steps, work of each rank before each of its two lookups (us), searching (us)
 * disease: imbalance late-sender collection-loop
 * blamed: 0
 * run: 12 smpi=12 args="60 1700 260"
 * run: 4 real=4 args="60 2000 2000"
 */
#include "truth.h"

#include <array>

using Section = std::array<double, 40>;

enum { QUESTION = 1, ANSWER = 2, NO_MORE = 3 };

/* Where cross sections come from: a copy, or the rank that has them. */
class Source {
public:
    virtual ~Source() = default;
    virtual Section find(int energy) = 0;
};

class Copy : public Source {
    double us;

public:
    explicit Copy(double us) : us(us) {}
    Section find(int energy) override
    {
        work_us(us);
        return Section{{(double)energy}};
    }
};

class Remote : public Source {
public:
    ~Remote() override { MPI_Send(nullptr, 0, MPI_INT, 0, NO_MORE, MPI_COMM_WORLD); }
    Section find(int energy) override
    {
        Section found;
        MPI_Send(&energy, 1, MPI_INT, 0, QUESTION, MPI_COMM_WORLD);
        MPI_Recv(found.data(), (int)found.size(), MPI_DOUBLE, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the place */
        return found;
    }
};

static void serve(Source &sections, int clients)
{
    while (clients > 0) {
        MPI_Status status;
        int energy; /* place begin */
        MPI_Recv(&energy, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == NO_MORE) {
            clients--;
            continue;
        }
        Section found = sections.find(energy);
        MPI_Send(found.data(), (int)found.size(), MPI_DOUBLE, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD); /* place end */
    }
}

static void transport(Source &sections, long steps, double us)
{
    for (long step = 0; step < steps; step++) {
        work_us(us);
        sections.find((int)step); /* the place */
        work_us(us);
        sections.find((int)-step); /* the place */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 1700), searching_us = truth_number(&truth, 3, 260);
    Copy copy(searching_us);
    if (truth.rank == 0 && truth.mode == SICK)
        serve(copy, truth.ranks - 1);
    else if (truth.rank != 0 && truth.mode == SICK) {
        Remote remote;
        transport(remote, steps, us);
    } else if (truth.rank != 0)
        transport(copy, steps, us);
    truth_end(&truth);
}
