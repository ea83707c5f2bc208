/* Temperature in a ring of ranks, in a material with six coefficients in every cell, which never change. In each step the
 * edges of the temperature are exchanged, and those of all coefficients as well, as was needed when they did change. The fix
 * exchanges coefficients before the first step only.
 *
 * arguments: steps, work of each rank (us), doubles of an edge
 * disease: transfer
 * run: 12 smpi=12 args="70 4000 15000"
 */
#include "truth.h"

enum { COEFFICIENTS = 6 };

struct field {
    int length;
    double *out, *in;
};

struct ring {
    int left, right;
    struct field temperature, coefficients[COEFFICIENTS];
};

static struct field make_field(int length)
{
    struct field field = {length, calloc(2 * (size_t)length, sizeof(double)), calloc(2 * (size_t)length, sizeof(double))};
    return field;
}

static void exchange(const struct ring *ring, struct field *field)
{
    MPI_Request requests[4];
    int length = field->length;
    MPI_Irecv(field->in, length, MPI_DOUBLE, ring->left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(field->in + length, length, MPI_DOUBLE, ring->right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(field->out, length, MPI_DOUBLE, ring->right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(field->out + length, length, MPI_DOUBLE, ring->left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* the place */
}

static void exchange_coefficients(struct ring *ring)
{
    for (int which = 0; which < COEFFICIENTS; which++) /* place begin */
        exchange(ring, &ring->coefficients[which]);    /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    int length = (int)truth_number(&truth, 3, 30000);
    double us = truth_number(&truth, 2, 4000);
    struct ring ring = {.left = (truth.rank + truth.ranks - 1) % truth.ranks, .right = (truth.rank + 1) % truth.ranks};
    ring.temperature = make_field(length);
    for (int which = 0; which < COEFFICIENTS; which++)
        ring.coefficients[which] = make_field(length);
    for (long step = 0; step < steps; step++) {
        if (step == 0 || truth.mode == SICK)
            exchange_coefficients(&ring); /* the place */
        exchange(&ring, &ring.temperature);
        work_us(us);
    }
    truth_end(&truth);
}
