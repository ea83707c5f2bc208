/* Ranks draw tiny tasks from a shared counter with MPI_Fetch_and_op, one at a time: each draw is a round trip to rank 0,
 * where all ranks make theirs. The fix draws several tasks at a time.
 *
 * arguments: tasks, work of a task (us), tasks that the fixed run draws at a time
 * disease: small-messages transfer slow-call lock-contention hot-receiver
 * run: 16 smpi=16 args="4000 30 16"
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    int tasks = (int)truth_number(&truth, 1, 4000), task;
    int together = truth.mode == SICK ? 1 : (int)truth_number(&truth, 3, 16), *counter;
    double us = truth_number(&truth, 2, 30);
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (;;) {
        MPI_Fetch_and_op(&together, &task, MPI_INT, 0, 0, MPI_SUM, window); /* place begin */
        MPI_Win_flush(0, window);
        if (task >= tasks)
            break;
        work_us(us * together); /* place end */
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    truth_end(&truth);
}
