/* Dynamics on even ranks, radiation on odd ones. In each step dynamics sends a state to radiation, goes on, and both agree on the
 * next time step. Radiation has a persistent receive for the state, but starts it only when it is through with what it does
 * itself, though the buffer is free all the time; the state is too large to be buffered, so dynamics waits in its send. The
 * fix starts the receive at the beginning of the step.
 *
 * arguments: steps, dynamics before the send (us), dynamics behind it (us), radiation (us), doubles of a state
 * disease: late-post late-receiver
 * run: 16 smpi=16 args="70 2000 2600 4600 12000" blamed=1,3,5,7,9,11,13,15
 */
#include "truth.h"

static double about(double us, long step, int part, const struct truth *truth)
{
    return us * (0.98 + 0.04 * chance(31, (uint64_t)(4 * step + part), (uint64_t)truth->rank));
}

static void dynamics(const struct truth *truth, double *state, int length, long step, double before_us, double behind_us)
{
    work_us(about(before_us, step, 0, truth));
    MPI_Send(state, length, MPI_DOUBLE, truth->rank + 1, 0, MPI_COMM_WORLD); /* the place */
    work_us(about(behind_us, step, 1, truth));
}

static void radiate(const struct truth *truth, MPI_Request *state, long step, double us)
{
    if (truth->mode != SICK)
        MPI_Start(state);
    work_us(about(us, step, 2, truth)); /* place begin */
    if (truth->mode == SICK)
        MPI_Start(state);
    MPI_Wait(state, MPI_STATUS_IGNORE); /* place end */
}

static double next_step(double mine)
{
    double shortest;
    MPI_Allreduce(&mine, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return shortest;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 70);
    double before_us = truth_number(&truth, 2, 2000), behind_us = truth_number(&truth, 3, 2600);
    double radiation_us = truth_number(&truth, 4, 4600), dt = 1;
    int length = (int)truth_number(&truth, 5, 12000), radiates = truth.rank % 2;
    double *state = calloc((size_t)length, sizeof(double));
    MPI_Request request = MPI_REQUEST_NULL;
    if (radiates)
        MPI_Recv_init(state, length, MPI_DOUBLE, truth.rank - 1, 0, MPI_COMM_WORLD, &request);
    for (long step = 0; step < steps; step++) {
        if (radiates)
            radiate(&truth, &request, step, radiation_us); /* the place */
        else
            dynamics(&truth, state, length, step, before_us, behind_us);
        dt = next_step(dt);
    }
    if (radiates)
        MPI_Request_free(&request);
    free(state);
    truth_end(&truth);
}
