/* A mesh that is refined where it matters, which is on the upper quarter of the ranks: every twenty steps their cells
 * become more. Dealt out anew after each refinement, all would have the same.
 *
 * arguments: steps, work of each rank (us), work that each refinement adds (us)
 * disease: growing-imbalance imbalance
 * fix: balance
 * run: 8 smpi=8 args="100 2000 1500" blamed=6-7
 * run: 16 smpi=16 args="120 2000 800" blamed=12-15
 * run: 4 real=4 args="80 3000 3000" blamed=3
 */
#include "truth.h"

#include <vector>

class Mesh {
    const struct truth &truth;
    double us, more_us;
    int refinements = 0;

public:
    Mesh(const struct truth &truth, double us, double more_us) : truth(truth), us(us), more_us(more_us) {}
    void refine() { refinements++; }
    void advance() const
    {
        int fine = truth.ranks / 4;
        double added_us = refinements * more_us;
        if (truth.mode == BALANCE)
            work_us(us + added_us * fine / truth.ranks);
        else
            work_us(truth.mode == SICK && truth.rank >= truth.ranks - fine ? us + added_us : us);
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100);
    Mesh mesh(truth, truth_number(&truth, 2, 2000), truth_number(&truth, 3, 1500));
    std::vector<double> edge(400), halo(400);
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    for (long step = 0; step < steps; step++) {
        MPI_Request requests[2];
        if (step % 20 == 19)
            mesh.refine();
        mesh.advance(); /* place begin */
        MPI_Isend(edge.data(), 400, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[0]); /* place end */
        MPI_Irecv(halo.data(), 400, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        double mine = 1, least;
        MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
