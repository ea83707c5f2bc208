/* Nothing is wrong: results are taken as they come, and who takes them has as much to do as who makes them.
 *
 * arguments: steps, work on a result (us)
 * run: 5 smpi=5 args="120 1000"
 * run: 5-real real=5 args="120 1500"
 */
#include "truth.h"

#include <vector>

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double us = truth_number(&truth, 2, 3000), result = 1;
    int makers = truth.ranks - 1;
    std::vector<double> results(makers);
    std::vector<MPI_Request> coming(makers);
    /* The results of a step are worked on in the next one. */
    for (long step = 0; step <= steps; step++) {
        if (truth.rank > 0) {
            if (step < steps) {
                work_us(us * makers);
                MPI_Send(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
            }
            continue;
        }
        if (step == 0)
            continue;
        for (int maker = 0; maker < makers; maker++)
            MPI_Irecv(&results[maker], 1, MPI_DOUBLE, maker + 1, 0, MPI_COMM_WORLD, &coming[maker]);
        for (int done = 0; done < makers; done++) {
            int which;
            MPI_Waitany(makers, coming.data(), &which, MPI_STATUS_IGNORE);
            work_us(us);
        }
    }
    truth_end(&truth);
}
