/* Nothing is wrong: a sum is begun, and waited for only when the work behind it is done.
 *
 * arguments: steps, work of each rank (us), doubles
 * run: 8 smpi=8 args="60 5000 1000"
 * run: 24 smpi=24 args="40 6000 100"
 * run: 4 real=4 args="60 8000 100"
 */
#include "truth.h"

#include <vector>

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 5000);
    std::vector<double> mine(truth_number(&truth, 3, 1000)), all(mine.size());
    for (long step = 0; step < steps; step++) {
        MPI_Request sum;
        MPI_Iallreduce(mine.data(), all.data(), (int)mine.size(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &sum);
        work_us(us);
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
    }
    truth_end(&truth);
}
