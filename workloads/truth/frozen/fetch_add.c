/* Rows of a matrix are shared out by a counter on rank 0: whoever is free takes the next row by an atomic operation, and works
 * on it for a moment, so short that all others want the counter again meanwhile. Taken by the dozen, rows are asked for a
 * dozen times less often. Behind each matrix all ranks meet, and the counter begins anew.
 *
 * arguments: matrices, rows of one, work on a row (us), rows taken at once by the fixed run
 * disease: lock-contention serialised-section small-messages
 * run: 16 smpi=16 args="20 1600 150 12" overhead=2e-6
 */
#include "truth.h"

struct counter {
    long *next;
    MPI_Win window;
};

static struct counter make_counter(void)
{
    struct counter counter;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter.next, &counter.window);
    *counter.next = 0;
    return counter;
}

static long take(const struct counter *counter, long rows)
{
    long first;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counter->window); /* place begin */
    MPI_Fetch_and_op(&rows, &first, MPI_LONG, 0, 0, MPI_SUM, counter->window);
    MPI_Win_unlock(0, counter->window); /* place end */
    return first;
}

static void begin_anew(const struct truth *truth, struct counter *counter)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (truth->rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counter->window);
        *counter->next = 0;
        MPI_Win_unlock(0, counter->window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void multiply(const struct counter *counter, long rows, long at_once, double us)
{
    for (long first; (first = take(counter, at_once)) < rows;) { /* the place */
        long end = first + at_once < rows ? first + at_once : rows;
        for (long row = first; row < end; row++)
            work_us(us);
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long matrices = truth_number(&truth, 1, 20), rows = truth_number(&truth, 2, 1600);
    double us = truth_number(&truth, 3, 150);
    long at_once = truth.mode == SICK ? 1 : truth_number(&truth, 4, 12);
    struct counter counter = make_counter();
    for (long matrix = 0; matrix < matrices; matrix++) {
        begin_anew(&truth, &counter);
        multiply(&counter, rows, at_once, us);
    }
    MPI_Win_free(&counter.window);
    truth_end(&truth);
}
