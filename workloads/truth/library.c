/* Transport and chemistry, which exchange and add up by the same functions of a library: no MPI call of the loop is in
 * this file. The flame is on one rank, in the chemistry.
 *
 * arguments: steps, work of each rank in each part (us), additional work of the flame (us), its rank
 * sources: library_comm.c
 * disease: imbalance
 * place: apart
 * run: 8 smpi=8 args="60 1000 4000 1" blamed=1
 * run: 4 real=4 args="60 2000 6000 1" blamed=1
 */
#include "truth.h"

void comm_exchange(const double *out, double *in, int length, int to, int from);
double comm_sum(double mine);

static struct truth truth;
static double out[100], in[100];

static void to_both_sides(void)
{
    int right = (truth.rank + 1) % truth.ranks, left = (truth.rank + truth.ranks - 1) % truth.ranks;
    comm_exchange(out, in, 10, right, left);
    comm_sum(in[0]);
}

static void transport(double us)
{
    work_us(us);
    to_both_sides();
}

static void chemistry(double us, double flame_us, int flame)
{
    work_us(truth.rank == flame ? us + flame_us : us); /* place begin */
    to_both_sides();                                   /* place end */
}

int main(int argc, char **argv)
{
    truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), flame = truth_number(&truth, 4, 1);
    double us = truth_number(&truth, 2, 1000), flame_us = truth_number(&truth, 3, 4000);
    if (truth.mode == FIX)
        flame_us = 0;
    for (long step = 0; step < steps; step++) {
        transport(us);
        chemistry(us, flame_us, (int)flame);
    }
    truth_end(&truth);
}
