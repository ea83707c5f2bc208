/* One rank steers an experiment: it makes new settings and sends them to all others, in order of rank, by synchronous sends. The
 * first few of those simulate the instrument and have most of their work before they take settings, the others before
 * they report (all agree on the best score then); all have the same work. Still nobody gets settings before the first few take theirs. The fix has all sends under way
 * at the same time.
 *
 * arguments: steps, the longer part of the work (us), the shorter one (us), ranks with the longer part first
 * disease: wrong-order late-receiver
 * run: 11 smpi=11 args="80 3200 1300 3"
 */
#include "truth.h"

enum { SETTINGS = 50 };

static double about(double us, long step, int part, const struct truth *truth)
{
    return us * (0.97 + 0.06 * chance(33, (uint64_t)(2 * step + part), (uint64_t)truth->rank));
}

static void send_in_order(const double *settings, int ranks)
{
    for (int to = 1; to < ranks; to++) /* place begin */
        MPI_Ssend(settings, SETTINGS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); /* place end */
}

static void send_at_once(const double *settings, int ranks, MPI_Request *requests)
{
    for (int to = 1; to < ranks; to++)
        MPI_Issend(settings, SETTINGS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &requests[to - 1]);
    MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
}

static void take_settings(double *settings)
{
    MPI_Recv(settings, SETTINGS, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    double longer_us = truth_number(&truth, 2, 3200), shorter_us = truth_number(&truth, 3, 1300);
    int instrument = truth.rank <= truth_number(&truth, 4, 3);
    double settings[SETTINGS] = {0}, score = 0, best;
    MPI_Request *requests = calloc((size_t)truth.ranks, sizeof(MPI_Request));
    for (long step = 0; step < steps; step++) {
        if (truth.rank == 0) {
            work_us(about(300, step, 0, &truth));
            truth.mode == SICK ? send_in_order(settings, truth.ranks) : send_at_once(settings, truth.ranks, requests); /* the place */
        } else {
            work_us(about(instrument ? longer_us : shorter_us, step, 0, &truth));
            take_settings(settings); /* the place */
            work_us(about(instrument ? shorter_us : longer_us, step, 1, &truth));
        }
        MPI_Allreduce(&score, &best, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    free(requests);
    truth_end(&truth);
}
