/* A line of ranks with flow from left to right: each sends its last plane to the right, computes inside meanwhile, as its
 * author thought, and takes the plane from the left. Planes are so large that a send waits for its receive, which comes
 * only when the receiver's own send is through and its inside done: one after the other, from the last rank to the first.
 * Then all agree on the time step. A send and a receive in one call let all do it at the same time.
 *
 * arguments: steps, work before (us), work between send and receive (us), doubles of a plane
 * disease: late-receiver late-post
 * run: 8 smpi=8 args="30 2000 1000 100000"
 * run: 24-nothing-between smpi=24 args="30 3000 0 60000"
 * run: 12 smpi=12 args="40 1500 400 40000"
 * run: 4 real=4 args="30 4000 4000 200000"
 */
#include "truth.h"

static void shift_at_once(double *out, double *in, int length, double inside_us, int left, int right)
{
    MPI_Sendrecv(out, length, MPI_DOUBLE, right, 0, in, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work_us(inside_us);
}

static void shift_in_turn(double *out, double *in, int length, double inside_us, int left, int right)
{
    MPI_Send(out, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD); /* place begin */
    work_us(inside_us);
    MPI_Recv(in, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 30);
    int length = (int)truth_number(&truth, 4, 100000);
    int left = truth.rank > 0 ? truth.rank - 1 : MPI_PROC_NULL;
    int right = truth.rank < truth.ranks - 1 ? truth.rank + 1 : MPI_PROC_NULL;
    double us = truth_number(&truth, 2, 2000), inside_us = truth_number(&truth, 3, 1000), dt = 1, next;
    double *out = calloc((size_t)length, sizeof(double)), *in = calloc((size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        (truth.mode == SICK ? shift_in_turn : shift_at_once)(out, in, length, inside_us, left, right);
        MPI_Allreduce(&dt, &next, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
