/* Transport of tracers, with a diagnosis of each in every step: its mass, its least and its largest value, each by a reduction of one
 * number. (There is a smaller second disease: one rank has land all around it and takes a little longer; the fix leaves it as it
 * is.) The fix reduces the numbers of all tracers together, by one reduction for each operation.
 *
 * arguments: steps, transport of all tracers (us), tracers, the rank with land, additional work of it (us)
 * disease: tiny-collectives needless-collective
 * run: 32 smpi=32 args="200 1700 8 7 130" overhead=2e-6
 */
#include "truth.h"

#include <functional>
#include <vector>

namespace reduce {

static std::vector<double> together(const std::vector<double> &mine, MPI_Op operation)
{
    std::vector<double> all(mine.size());
    MPI_Allreduce(mine.data(), all.data(), (int)mine.size(), MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return all;
}

static std::vector<double> by_element(const std::vector<double> &mine, MPI_Op operation)
{
    std::vector<double> all(mine.size());
    for (std::size_t element = 0; element < mine.size(); element++) // place begin
        MPI_Allreduce(&mine[element], &all[element], 1, MPI_DOUBLE, operation, MPI_COMM_WORLD); // place end
    return all;
}

} // namespace reduce

class Diagnosis {
    std::function<std::vector<double>(const std::vector<double> &, MPI_Op)> over_all;

public:
    explicit Diagnosis(bool sick) : over_all(sick ? reduce::by_element : reduce::together) {}
    bool plausible(const std::vector<double> &mine)
    {
        auto mass = over_all(mine, MPI_SUM); // the place
        auto least = over_all(mine, MPI_MIN); // the place
        auto largest = over_all(mine, MPI_MAX); // the place
        for (std::size_t tracer = 0; tracer < mine.size(); tracer++)
            if (least[tracer] > largest[tracer] || mass[tracer] < 0)
                return false;
        return true;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 200);
    double us = truth_number(&truth, 2, 1700);
    std::vector<double> tracers((std::size_t)truth_number(&truth, 3, 8), 1.0);
    double land_us = truth.rank == truth_number(&truth, 4, 7) ? truth_number(&truth, 5, 130) : 0;
    Diagnosis diagnosis(truth.mode == SICK);
    for (long step = 0; step < steps; step++) {
        work_us(us * (0.985 + 0.03 * chance(43, (uint64_t)step, (uint64_t)truth.rank)) + land_us);
        if (!diagnosis.plausible(tracers)) // the place
            break;
    }
    truth_end(&truth);
}
