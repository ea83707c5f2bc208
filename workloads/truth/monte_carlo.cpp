/* Every rank draws samples until it has enough, which takes it longer or shorter by chance in each step; results are then
 * shared by all. Shared out evenly, each step would take its mean.
 *
 * arguments: steps, least work of a step (us), what chance adds at most (us), seed
 * disease: random-imbalance moving-imbalance
 * fix: balance
 * run: 6 smpi=6 args="120 1000 5000 seed"
 * run: 24 smpi=24 args="80 3000 4000 seed"
 * run: 4 real=4 args="80 2000 10000 seed"
 */
#include "truth.h"

#include <vector>

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 120), seed = truth_number(&truth, 4, 1);
    double least_us = truth_number(&truth, 2, 1000), chance_us = truth_number(&truth, 3, 5000);
    std::vector<double> mine(20), all(20 * truth.ranks);
    for (long step = 0; step < steps; step++) {
        std::vector<double> us(truth.ranks);
        double mean_us = 0;
        for (int rank = 0; rank < truth.ranks; rank++) {
            us[rank] = least_us + chance_us * chance(seed, step, rank);
            mean_us += us[rank] / truth.ranks;
        }
        work_us(truth.mode == SICK ? us[truth.rank] : mean_us); /* place begin */
        MPI_Allgather(mine.data(), 20, MPI_DOUBLE, all.data(), 20, MPI_DOUBLE, MPI_COMM_WORLD); /* place end */
    }
    truth_end(&truth);
}
