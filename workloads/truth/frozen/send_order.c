/* Every rank has a part for each other one. Receives are posted before; then all send, to rank 0 first, then to rank 1 and so
 * on, one after the other: all of them to the same one at the same time, whose line is full while all other lines are idle.
 * The fix begins with the rank behind one's own, so that each line has one sender.
 *
 * arguments: steps, work of each rank (us), doubles of a part
 * disease: hot-receiver wrong-order alltoall
 * run: 12 smpi=12 args="30 12000 12000"
 */
#include "truth.h"

struct parts {
    int length;
    double *out, *in;
    MPI_Request *requests;
};

static struct parts make_parts(int ranks, int length)
{
    size_t numbers = (size_t)ranks * (size_t)length;
    struct parts parts = {length, calloc(numbers, sizeof(double)), calloc(numbers, sizeof(double)), NULL};
    parts.requests = calloc((size_t)ranks, sizeof(MPI_Request));
    return parts;
}

static void post_receives(const struct truth *truth, struct parts *parts)
{
    for (int from = 0; from < truth->ranks; from++) {
        double *part = parts->in + from * parts->length;
        parts->requests[from] = MPI_REQUEST_NULL;
        if (from != truth->rank)
            MPI_Irecv(part, parts->length, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &parts->requests[from]);
    }
}

/* The rank that gets a part at this turn. */
static int receiver_of(const struct truth *truth, int turn)
{
    return truth->mode == SICK ? turn : (truth->rank + 1 + turn) % truth->ranks;
}

static void send_parts(const struct truth *truth, const struct parts *parts)
{
    for (int turn = 0; turn < truth->ranks; turn++) {
        int to = receiver_of(truth, turn); /* place begin */
        if (to != truth->rank)
            MPI_Send(parts->out + to * parts->length, parts->length, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); /* place end */
    }
}

static void redistribute(const struct truth *truth, struct parts *parts)
{
    post_receives(truth, parts);
    send_parts(truth, parts); /* the place */
    MPI_Waitall(truth->ranks, parts->requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 40);
    double us = truth_number(&truth, 2, 6500);
    struct parts parts = make_parts(truth.ranks, (int)truth_number(&truth, 3, 12000));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        redistribute(&truth, &parts);
    }
    truth_end(&truth);
}
