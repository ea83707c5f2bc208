/* A front crosses the ranks from left to right: those it passes have more to do, most of all the one it is in the middle
 * of. Neighbours exchange in every step, and every fifth step everybody agrees on the next time step.
 *
 * arguments: steps, work of each rank (us), additional work in the middle of the front (us), ranks it is wide
 * disease: moving-imbalance
 * fix: balance
 * run: 16 smpi=16 args="160 1500 4000 2"
 * run: 48 smpi=48 args="96 2000 5000 4"
 * run: 5 real=5 args="80 3000 8000 1"
 */
#include "truth.h"

#include <cmath>
#include <vector>

class Front {
    double height_us, width;
    long steps;
    int ranks;

public:
    Front(double height_us, double width, long steps, int ranks)
        : height_us(height_us), width(width), steps(steps), ranks(ranks) {}
    double at(int rank, long step) const
    {
        double middle = (double)step / (double)steps * ranks, away = (rank + 0.5 - middle) / width;
        return height_us * std::exp(-away * away);
    }
    double mean(long step) const
    {
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++)
            sum += at(rank, step);
        return sum / ranks;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 160);
    double us = truth_number(&truth, 2, 1500);
    Front front((double)truth_number(&truth, 3, 4000), (double)truth_number(&truth, 4, 2), steps, truth.ranks);
    std::vector<double> edge(100), halo(100);
    int right = truth.rank + 1 < truth.ranks ? truth.rank + 1 : MPI_PROC_NULL;
    int left = truth.rank > 0 ? truth.rank - 1 : MPI_PROC_NULL;
    for (long step = 0; step < steps; step++) {
        double more_us = truth.mode == SICK ? front.at(truth.rank, step) : truth.mode == BALANCE ? front.mean(step) : 0;
        work_us(us + more_us); /* place begin */
        MPI_Sendrecv(edge.data(), 100, MPI_DOUBLE, right, 0, halo.data(), 100, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE); /* place end */
        MPI_Sendrecv(edge.data(), 100, MPI_DOUBLE, left, 1, halo.data(), 100, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        double mine = 1, least;
        if (step % 5 == 4)
            MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
