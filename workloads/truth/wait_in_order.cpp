/* Groups of five: four ranks send a part each to the fifth, which works on every part. It waits for the first, then the
 * second and so on, but they come the other way round. Whoever takes any that is there has worked on three of them when
 * the last one comes.
 *
 * arguments: steps, work before the earliest part (us), by how much each is later than the next (us), work on a part (us)
 * disease: wrong-order
 * run: 5 smpi=5 args="60 6000 1500 1400"
 * run: 20 smpi=20 args="40 5000 1200 1100"
 * run: 5-real real=5 args="50 10000 3000 2400"
 */
#include "truth.h"

#include <array>

enum { PARTS = 4, LENGTH = 50 };
using Part = std::array<double, LENGTH>;

static void take(std::array<MPI_Request, PARTS> &coming, bool in_order, double part_us)
{
    for (int done = 0; done < PARTS; done++) {
        int part = done; /* place begin */
        if (in_order)
            MPI_Wait(&coming[part], MPI_STATUS_IGNORE);
        else
            MPI_Waitany(PARTS, coming.data(), &part, MPI_STATUS_IGNORE);
        work_us(part_us); /* place end */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 1000), later_us = truth_number(&truth, 3, 1500);
    double part_us = truth_number(&truth, 4, 1200);
    int collector = truth.rank - truth.rank % (PARTS + 1), part_of_mine = truth.rank - collector - 1;
    std::array<Part, PARTS> in{};
    Part out{};
    for (long step = 0; step < steps; step++) {
        if (truth.rank == collector) {
            std::array<MPI_Request, PARTS> coming;
            for (int part = 0; part < PARTS; part++)
                MPI_Irecv(in[part].data(), LENGTH, MPI_DOUBLE, collector + part + 1, 0, MPI_COMM_WORLD, &coming[part]);
            take(coming, truth.mode == SICK, part_us);
        } else {
            work_us(us + later_us * (PARTS - 1 - part_of_mine));
            MPI_Send(out.data(), LENGTH, MPI_DOUBLE, collector, 0, MPI_COMM_WORLD);
        }
        double mine = 1, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
