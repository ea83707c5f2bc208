/* Pairs of ranks exchange an array number by number where one message would do.
 *
 * arguments: steps, work of each rank (us), numbers of the array
 * disease: small-messages
 * run: 8 smpi=8 args="20 1000 500"
 * run: 32 smpi=32 args="20 2000 200" overhead=1e-6
 * run: 4 real=4 args="20 1000 3000"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 20);
    int length = (int)truth_number(&truth, 3, 500), partner = truth.rank ^ 1;
    double us = truth_number(&truth, 2, 1000);
    double *out = calloc((size_t)length, sizeof(double)), *in = calloc((size_t)length, sizeof(double));
    int piece = truth.mode == SICK ? 1 : length;
    for (long step = 0; step < steps; step++) {
        work_us(us);
        for (int begin = 0; begin < length; begin += piece) /* place begin */
            MPI_Sendrecv(out + begin, piece, MPI_DOUBLE, partner, 0, in + begin, piece, MPI_DOUBLE, partner, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* place end */
    }
    truth_end(&truth);
}
