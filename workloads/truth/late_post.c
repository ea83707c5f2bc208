/* Even ranks send a large array and compute then; odd ranks compute first and take it then, so that even ranks begin late.
 * A receive that is posted before the computation lets both compute at the same time. (Only where messages travel while
 * nobody is inside MPI: not with real MPIs as they are usually built.)
 *
 * arguments: steps, work of each rank (us), doubles of the array
 * disease: late-post late-receiver
 * run: 8 smpi=8 args="60 5000 500000" blamed=1,3,5,7
 * run: 16-100kB smpi=16 args="60 3000 12500" blamed=1,3,5,7,9,11,13,15
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int length = (int)truth_number(&truth, 3, 500000);
    double us = truth_number(&truth, 2, 5000), mine = 1, all, *x = calloc((size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        MPI_Request request;
        if (truth.rank % 2 == 0) {
            MPI_Send(x, length, MPI_DOUBLE, truth.rank + 1, 0, MPI_COMM_WORLD);
            work_us(us);
        } else if (truth.mode == SICK) {
            work_us(us); /* place begin */
            MPI_Irecv(x, length, MPI_DOUBLE, truth.rank - 1, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE); /* place end */
        } else {
            MPI_Irecv(x, length, MPI_DOUBLE, truth.rank - 1, 0, MPI_COMM_WORLD, &request);
            work_us(us);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
