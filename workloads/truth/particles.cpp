/* Particles in boxes, one box for each rank: how many there are in a box was left to chance at the start, and stays so
 * although some move to neighbours in each step. The fix deals them out evenly.
 *
 * arguments: steps, mean work of a rank (us), by how much it differs at most (%), seed
 * disease: imbalance
 * fix: balance
 * run: 12 smpi=12 args="60 3000 60 seed"
 * run: 32 smpi=32 args="40 4000 40 seed"
 * run: 4 real=4 args="60 6000 60 5"
 */
#include "truth.h"

#include <numeric>
#include <vector>

/* What each box costs; the mean over all boxes is given. */
static std::vector<double> costs(int boxes, double mean_us, double spread, long seed)
{
    std::vector<double> us(boxes);
    for (int box = 0; box < boxes; box++)
        us[box] = 1 + spread * (2 * chance(seed, 0, box) - 1);
    double sum = std::accumulate(us.begin(), us.end(), 0.0);
    for (double &box_us : us)
        box_us *= mean_us * boxes / sum;
    return us;
}

class Box {
    int ranks;
    double us;
    std::vector<int> counts, places;
    std::vector<double> leaving, coming;

public:
    Box(const struct truth &truth, double us) : ranks(truth.ranks), us(us), counts(truth.ranks), places(truth.ranks)
    {
        counts[(truth.rank + 1) % ranks] += 50;
        counts[(truth.rank + ranks - 1) % ranks] += 50;
        std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
        leaving.resize(200);
        coming.resize(200);
    }
    void push() { work_us(us); }
    void migrate()
    {
        push();                                                                              /* place begin */
        MPI_Alltoallv(leaving.data(), counts.data(), places.data(), MPI_DOUBLE, coming.data(), counts.data(),
                      places.data(), MPI_DOUBLE, MPI_COMM_WORLD); /* place end */
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double mean_us = truth_number(&truth, 2, 3000), spread = truth_number(&truth, 3, 60) / 100.0;
    double us = truth.mode == SICK ? costs(truth.ranks, mean_us, spread, truth_number(&truth, 4, 1))[truth.rank] : mean_us;
    Box box(truth, us);
    for (long step = 0; step < steps; step++)
        box.migrate();
    truth_end(&truth);
}
