/* Rank 0 takes a part of each rank one by one and combines it with what it has, which takes a while each time. A reduction
 * with the same operation combines pairs at the same time, along a tree.
 *
 * arguments: steps, work of each rank (us), combining two parts (us)
 * disease: collection-loop
 * run: 8 smpi=8 args="50 3000 500" cfg=smpi/reduce:binomial
 * run: 32 smpi=32 args="40 4000 300" cfg=smpi/reduce:binomial
 * run: 8-real mpich=8 args="40 5000 1500"
 */
#include "truth.h"

enum { LENGTH = 100 };

static double combining_us;

static void combine(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void)type;
    work_us(combining_us);
    for (int i = 0; i < *length; i++)
        ((double *)out)[i] += ((double *)in)[i];
}

static void collect(const struct truth *truth, double *part, double *whole)
{
    int length = LENGTH;
    if (truth->rank != 0) {
        MPI_Send(part, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    memcpy(whole, part, LENGTH * sizeof(double));
    for (int from = 1; from < truth->ranks; from++) {
        double other[LENGTH]; /* place begin */
        MPI_Recv(other, LENGTH, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        combine(other, whole, &length, NULL); /* place end */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    double us = truth_number(&truth, 2, 3000), part[LENGTH] = {1}, whole[LENGTH];
    combining_us = truth_number(&truth, 3, 500);
    MPI_Op operation;
    MPI_Op_create(combine, 1, &operation);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK)
            collect(&truth, part, whole);
        else
            MPI_Reduce(part, whole, LENGTH, MPI_DOUBLE, operation, 0, MPI_COMM_WORLD);
        MPI_Bcast(whole, LENGTH, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* the place */
    }
    MPI_Op_free(&operation);
    truth_end(&truth);
}
