/* A one-sided halo under one lock for the whole run. The edge is put row by row into the neighbour's window, and each put is
 * flushed before the next begins, so that every row costs a latency. The fix puts all rows at once and flushes once.
 *
 * arguments: steps, work of each rank (us), rows of an edge
 * disease: small-messages slow-call transfer
 * run: 16 smpi=16 args="300 1500 90" overhead=3e-6
 */
#include "truth.h"

enum { ROW = 12 };

struct side {
    MPI_Win window;
    int rows, to, from;
    double *halo, *edge;
};

static struct side open_side(const struct truth *truth, int rows)
{
    struct side side = {.rows = rows, .to = (truth->rank + 1) % truth->ranks};
    side.from = (truth->rank + truth->ranks - 1) % truth->ranks;
    side.edge = calloc((size_t)rows * ROW, sizeof(double));
    MPI_Win_allocate((MPI_Aint)rows * ROW * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &side.halo,
                     &side.window);
    MPI_Win_lock_all(0, side.window);
    return side;
}

static void put_rows(struct side *side, int first, int rows)
{
    MPI_Put(side->edge + first * ROW, rows * ROW, MPI_DOUBLE, side->to, (MPI_Aint)first * ROW, rows * ROW, MPI_DOUBLE, /* place begin */
            side->window);
    MPI_Win_flush(side->to, side->window); /* place end */
}

static void send_edge(struct side *side, int rows_at_once)
{
    for (int row = 0; row < side->rows; row += rows_at_once)
        put_rows(side, row, rows_at_once); /* the place */
}

/* Says that the edge is there, and waits for one's own. */
static void arrived(struct side *side)
{
    MPI_Sendrecv(NULL, 0, MPI_INT, side->to, 0, NULL, 0, MPI_INT, side->from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 300);
    double us = truth_number(&truth, 2, 1500);
    struct side side = open_side(&truth, (int)truth_number(&truth, 3, 90));
    for (long step = 0; step < steps; step++) {
        work_us(us * (0.98 + 0.04 * chance(24, (uint64_t)step, (uint64_t)truth.rank)));
        send_edge(&side, truth.mode == SICK ? 1 : side.rows); /* the place */
        arrived(&side);
    }
    MPI_Win_unlock_all(side.window);
    MPI_Win_free(&side.window);
    truth_end(&truth);
}
