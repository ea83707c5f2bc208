/* Halo exchange in a line with messages so large that a send waits until its receive is posted. Every rank computes the
 * inside of its part before it posts its receives, so the edges, which were ready long ago, travel only then. Posted
 * before, they travel meanwhile.
 *
 * arguments: steps, work on the edges (us), work on the inside (us), doubles of an edge
 * disease: late-post late-receiver
 * run: 8 smpi=8 args="40 500 3000 200000"
 * run: 16 smpi=16 args="40 500 2000 100000"
 */
#include "truth.h"

#include <vector>

class Line {
    int length, right, left;
    std::vector<double> out[2], in[2];
    MPI_Request requests[4];

public:
    Line(const struct truth &truth, int length)
        : length(length), right(truth.rank + 1 < truth.ranks ? truth.rank + 1 : MPI_PROC_NULL),
          left(truth.rank > 0 ? truth.rank - 1 : MPI_PROC_NULL)
    {
        for (int side = 0; side < 2; side++) {
            out[side].resize(length);
            in[side].resize(length);
        }
    }
    void send_edges()
    {
        MPI_Isend(out[0].data(), length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out[1].data(), length, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[1]);
    }
    void post()
    {
        MPI_Irecv(in[0].data(), length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[2]); /* place begin */
        MPI_Irecv(in[1].data(), length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
    }
    void wait() { MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); } /* place end */
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double edge_us = truth_number(&truth, 2, 500), inside_us = truth_number(&truth, 3, 3000);
    Line line(truth, (int)truth_number(&truth, 4, 200000));
    for (long step = 0; step < steps; step++) {
        if (truth.mode == FIX)
            line.post();
        work_us(edge_us);
        line.send_edges();
        work_us(inside_us);
        if (truth.mode == SICK)
            line.post();
        line.wait();
    }
    truth_end(&truth);
}
