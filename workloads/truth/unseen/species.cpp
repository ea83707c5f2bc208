/* Plasma: ions on the first half of all ranks, electrons on the second half. The two ranks that have ions and electrons of the same
 * part of space exchange all their charges in each step, neighbours among ions and among electrons only a few numbers. Ranks
 * are placed one after the other, so that ions are in one cabinet and electrons in the other, and all charges go through the
 * line between. The fix gives ions to even and electrons to odd ranks, so that only a few of the edges go through it.
 *
 * arguments: steps, work of each rank (us), charges
 * disease: placement transfer
 * run: 16 smpi=16 args="60 5500 1500" net=cabinets
 */
#include "truth.h"

#include <vector>

enum { EDGE = 12 };

struct Part {
    int species, at, parts;
    int rank_of(int of_species, int of_part, bool alternating) const
    {
        return alternating ? 2 * of_part + of_species : of_species * parts + of_part;
    }
};

static Part part_of(const struct truth &truth, bool alternating)
{
    int parts = truth.ranks / 2;
    return alternating ? Part{truth.rank % 2, truth.rank / 2, parts} : Part{truth.rank / parts, truth.rank % parts, parts};
}

class Exchange {
    std::vector<double> out, in, edge, halo;
    int partner, left, right;

public:
    Exchange(const Part &part, bool alternating, std::size_t charges) : out(charges), in(charges), edge(EDGE), halo(EDGE)
    {
        partner = part.rank_of(1 - part.species, part.at, alternating);
        left = part.rank_of(part.species, (part.at + part.parts - 1) % part.parts, alternating);
        right = part.rank_of(part.species, (part.at + 1) % part.parts, alternating);
    }
    void charges()
    {
        MPI_Request both[2];
        MPI_Irecv(in.data(), (int)in.size(), MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &both[0]); // place begin
        MPI_Isend(out.data(), (int)out.size(), MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE); // place end
    }
    void edges()
    {
        MPI_Sendrecv(edge.data(), EDGE, MPI_DOUBLE, right, 2, halo.data(), EDGE, MPI_DOUBLE, left, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 5500);
    bool alternating = truth.mode != SICK;
    Part part = part_of(truth, alternating);
    Exchange exchange(part, alternating, (std::size_t)truth_number(&truth, 3, 1500));
    for (long step = 0; step < steps; step++) {
        work_us(us * (0.98 + 0.04 * chance(45, (uint64_t)step, (uint64_t)truth.rank)));
        exchange.charges(); // the place
        exchange.edges();
    }
    truth_end(&truth);
}
