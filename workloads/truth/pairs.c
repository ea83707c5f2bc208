/* Ranks exchange much with one partner, which is half the machine away: in another cabinet, behind a slow line. Where
 * partners are neighbours, they are in the same one.
 *
 * arguments: steps, work of each rank (us), doubles
 * disease: placement
 * run: 8 smpi=8 args="30 2000 20000" net=cabinets
 * run: 32 smpi=32 args="25 5000 5000" net=cabinets
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 30);
    int length = (int)truth_number(&truth, 3, 20000);
    int partner = truth.mode == SICK ? (truth.rank + truth.ranks / 2) % truth.ranks : truth.rank ^ 1;
    double us = truth_number(&truth, 2, 2000), mine = 1, all;
    double *out = calloc((size_t)length, sizeof(double)), *in = calloc((size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        MPI_Sendrecv(out, length, MPI_DOUBLE, partner, 0, in, length, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, /* place begin */
                     MPI_STATUS_IGNORE); /* place end */
        if (step % 5 == 4)
            MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
