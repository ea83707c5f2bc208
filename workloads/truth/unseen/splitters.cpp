/* Sample sort of one batch after the other: each rank sorts what it has and draws samples, which the first rank gathers and sorts to
 * find the splitters that it broadcasts; then keys are exchanged and merged. All others wait for the first one's sort. The fix
 * gives all samples to each rank, which finds out where a sixteenth of them belong, so that a little is left.
 *
 * arguments: batches, sorting one's own keys (us), sorting all samples (us), merging (us)
 * disease: late-root imbalance serialised-section
 * blamed: 0
 * run: 16 smpi=16 args="70 2600 2100 1100"
 */
#include "truth.h"

#include <algorithm>
#include <vector>

enum { SAMPLES = 32, KEYS = 100 };

using Keys = std::vector<double>;

class Sorter {
    const struct truth &truth;
    double sort_us, samples_us, merge_us;
    Keys keys, sorted;

    double about(double us, long batch, int part) const
    {
        return us * (0.98 + 0.04 * chance(44, (uint64_t)(2 * batch + part), (uint64_t)truth.rank));
    }

public:
    Sorter(const struct truth &truth, double sort_us, double samples_us, double merge_us)
        : truth(truth), sort_us(sort_us), samples_us(samples_us), merge_us(merge_us), keys((std::size_t)(KEYS * truth.ranks)),
          sorted(keys.size())
    {
    }
    Keys splitters_of_first(const Keys &samples)
    {
        Keys all(truth.rank == 0 ? (std::size_t)(SAMPLES * truth.ranks) : 0), splitters((std::size_t)truth.ranks);
        MPI_Gather(samples.data(), SAMPLES, MPI_DOUBLE, all.data(), SAMPLES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (truth.rank == 0) { // place begin
            work_us(samples_us);
            std::copy_n(all.begin(), splitters.size(), splitters.begin());
        }
        MPI_Bcast(splitters.data(), truth.ranks, MPI_DOUBLE, 0, MPI_COMM_WORLD); // place end
        return splitters;
    }
    Keys splitters_of_all(const Keys &samples)
    {
        Keys all((std::size_t)(SAMPLES * truth.ranks)), splitters((std::size_t)truth.ranks);
        MPI_Allgather(samples.data(), SAMPLES, MPI_DOUBLE, all.data(), SAMPLES, MPI_DOUBLE, MPI_COMM_WORLD);
        work_us(samples_us / truth.ranks);
        MPI_Allgather(all.data(), 1, MPI_DOUBLE, splitters.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
        return splitters;
    }
    void sort(long batch)
    {
        Keys samples(SAMPLES, (double)truth.rank);
        work_us(about(sort_us, batch, 0));
        if (truth.mode == SICK)
            splitters_of_first(samples); // the place
        else
            splitters_of_all(samples);
        MPI_Alltoall(keys.data(), KEYS, MPI_DOUBLE, sorted.data(), KEYS, MPI_DOUBLE, MPI_COMM_WORLD);
        work_us(about(merge_us, batch, 1));
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long batches = truth_number(&truth, 1, 70);
    Sorter sorter(truth, truth_number(&truth, 2, 2600), truth_number(&truth, 3, 2100), truth_number(&truth, 4, 1100));
    for (long batch = 0; batch < batches; batch++)
        sorter.sort(batch);
    truth_end(&truth);
}
