/* A task farm: a master hands out tasks to whoever asks, the shortest first. The longest come last, and while a few workers
 * are still at them, the others have nothing left to do. The fix hands out the longest first.
 *
 * arguments: tasks, the shortest task (us), by how much the longest is longer (us)
 * disease: imbalance random-imbalance rare-imbalance task-farm-tail
 * run: 9 smpi=9 args="120 500 20000"
 * run: 5 real=5 args="60 10000 400000"
 */
#include "truth.h"

#include <math.h>

enum { ASK = 1, TASK = 2 };

static void hand_out(long tasks, int workers)
{
    long next = 0;
    while (workers > 0) {
        MPI_Status status;
        long last;
        MPI_Recv(&last, 1, MPI_LONG, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status); /* the place */
        long task = next < tasks ? next++ : -1;
        if (task < 0)
            workers--;
        MPI_Send(&task, 1, MPI_LONG, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
    }
}

/* Most tasks are short, a few are long. */
static double length_us(long size, long tasks, double us, double more_us)
{
    return us + more_us * pow((double)size / (double)tasks, 6);
}

static void work_on(int shortest_first, long tasks, double us, double more_us)
{
    long task = -1;
    for (;;) {
        MPI_Send(&task, 1, MPI_LONG, 0, ASK, MPI_COMM_WORLD); /* place begin */
        MPI_Recv(&task, 1, MPI_LONG, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0)
            return;
        work_us(length_us(shortest_first ? task : tasks - 1 - task, tasks, us, more_us)); /* place end */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long tasks = truth_number(&truth, 1, 120);
    double us = truth_number(&truth, 2, 500), more_us = truth_number(&truth, 3, 20000);
    if (truth.rank == 0)
        hand_out(tasks, truth.ranks - 1);
    else
        work_on(truth.mode == SICK, tasks, us, more_us);
    MPI_Barrier(MPI_COMM_WORLD); /* the place */
    truth_end(&truth);
}
