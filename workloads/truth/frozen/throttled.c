/* Advection, diffusion and pressure, each with what ranks need of each other behind it. Half-way the processor of one rank
 * becomes too hot and is throttled: from then on all three take longer there.
 *
 * arguments: steps, work of each rank in a step (us), by how much the throttled one takes longer (%), its rank
 * disease: slow-ranks imbalance growing-imbalance
 * run: 16 smpi=16 args="90 4000 35 7" blamed=7
 * run: 4 real=4 args="60 10000 100 3" blamed=3
 */
#include "truth.h"

enum { LENGTH = 300 };

struct domain {
    int left, right;
    double out[2 * LENGTH], in[2 * LENGTH];
};

static void exchange(struct domain *domain)
{
    MPI_Request requests[4];
    MPI_Irecv(domain->in, LENGTH, MPI_DOUBLE, domain->left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(domain->in + LENGTH, LENGTH, MPI_DOUBLE, domain->right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(domain->out, LENGTH, MPI_DOUBLE, domain->right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(domain->out + LENGTH, LENGTH, MPI_DOUBLE, domain->left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* the place */
}

static void advect(struct domain *domain, double us)
{
    work_us(us);      /* place begin */
    exchange(domain); /* place end */
}

static void diffuse(struct domain *domain, double us)
{
    work_us(us);      /* place begin */
    exchange(domain); /* place end */
}

static double pressure(double us)
{
    double mine = 1, all;
    work_us(us);                                                           /* place begin */
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* place end */
    return all;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80), hot = truth_number(&truth, 4, 7);
    double us = truth_number(&truth, 2, 4000), longer = 1 + truth_number(&truth, 3, 80) / 100.0;
    struct domain domain = {(truth.rank + truth.ranks - 1) % truth.ranks, (truth.rank + 1) % truth.ranks, {0}, {0}};
    for (long step = 0; step < steps; step++) {
        int throttled = truth.mode == SICK && truth.rank == hot && step >= steps / 2;
        double now_us = throttled ? us * longer : us;
        advect(&domain, 0.4 * now_us);
        diffuse(&domain, 0.35 * now_us);
        pressure(0.25 * now_us);
    }
    truth_end(&truth);
}
