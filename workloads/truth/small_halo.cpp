/* Halo exchange in which every cell of an edge is a message of its own; packed, an edge is one.
 *
 * arguments: steps, work of each rank (us), cells of an edge
 * disease: small-messages
 * run: 8 smpi=8 args="30 500 150" overhead=2e-6
 * run: 16 smpi=16 args="20 500 200" overhead=1e-6
 * run: 4 real=4 args="30 1000 2000"
 */
#include "truth.h"

#include <vector>

class Halo {
    int cells, piece, right, left;
    std::vector<double> out, in;
    std::vector<MPI_Request> requests;

public:
    Halo(const struct truth &truth, int cells)
        : cells(cells), piece(truth.mode == SICK ? 1 : cells), right((truth.rank + 1) % truth.ranks),
          left((truth.rank + truth.ranks - 1) % truth.ranks), out(cells), in(cells) {}
    void exchange()
    {
        requests.clear();
        for (int cell = 0; cell < cells; cell += piece) {
            requests.emplace_back(); /* place begin */
            MPI_Irecv(&in[cell], piece, MPI_DOUBLE, left, cell, MPI_COMM_WORLD, &requests.back());
            requests.emplace_back();
            MPI_Isend(&out[cell], piece, MPI_DOUBLE, right, cell, MPI_COMM_WORLD, &requests.back());
        }
        MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE); /* place end */
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 30);
    double us = truth_number(&truth, 2, 500);
    Halo halo(truth, (int)truth_number(&truth, 3, 150));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        halo.exchange();
    }
    truth_end(&truth);
}
