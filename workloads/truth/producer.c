/* Producers compute something and send it to their consumer, which waits for it each time: the producers are late.
 *
 * arguments: steps, work of a producer (us), work of a consumer (us), bytes of a message
 * disease: late-sender imbalance
 * run: 8 smpi=8 args="80 5000 1000 800" blamed=0,2,4,6
 * run: 4-200kB smpi=4 args="80 4000 1000 200000" blamed=0,2
 * run: 4 real=4 args="60 8000 2000 800" blamed=0,2
 * run: 2-60kB real=2 args="60 8000 2000 60000" blamed=0
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    int bytes = (int)truth_number(&truth, 4, 800);
    double producer_us = truth_number(&truth, 2, 5000), consumer_us = truth_number(&truth, 3, 1000);
    if (truth.mode == FIX)
        producer_us = consumer_us;
    char *item = calloc((size_t)bytes, 1);
    for (long step = 0; step < steps; step++) {
        if (truth.rank % 2 == 0) {
            work_us(producer_us); /* place begin */
            MPI_Send(item, bytes, MPI_CHAR, truth.rank + 1, 3, MPI_COMM_WORLD); /* place end */
        } else {
            MPI_Recv(item, bytes, MPI_CHAR, truth.rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work_us(consumer_us);
        }
    }
    truth_end(&truth);
}
