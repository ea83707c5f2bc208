/* Nothing is wrong: a long stream of items goes through stages of the same length, a rank each. Filling takes as long as
 * three items of three hundred.
 *
 * arguments: items, work of a stage on an item (us)
 * run: 4 smpi=4 args="300 2000"
 * run: 4-real real=4 args="200 4000"
 */
#include "truth.h"

enum { LENGTH = 100 };

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long items = truth_number(&truth, 1, 300);
    double us = truth_number(&truth, 2, 2000), item[LENGTH] = {0};
    for (long number = 0; number < items; number++) {
        if (truth.rank > 0)
            MPI_Recv(item, LENGTH, MPI_DOUBLE, truth.rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work_us(us);
        if (truth.rank + 1 < truth.ranks)
            MPI_Send(item, LENGTH, MPI_DOUBLE, truth.rank + 1, 0, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
