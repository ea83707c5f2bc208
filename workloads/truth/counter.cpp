/* A list of tasks in a window: whoever wants the next one locks the window, looks for it for a while, and unlocks.
 *
 * arguments: tasks of each rank, work of a task (us), looking for it (us), the rank with the list
 * disease: lock-contention
 * run: 12 smpi=12 args="50 3000 600 0"
 * run: 24 smpi=24 args="30 5000 500 5"
 * run: 4 real=4 args="60 4000 3000 0"
 */
#include "truth.h"

class Tasks {
    int home;
    long *next = nullptr;
    double looking_us;
    MPI_Win window;

public:
    Tasks(int home, double looking_us) : home(home), looking_us(looking_us)
    {
        MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &next, &window);
    }
    ~Tasks() { MPI_Win_free(&window); }
    long take()
    {
        long task, one = 1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, window); /* place begin */
        MPI_Get(&task, 1, MPI_LONG, home, 0, 1, MPI_LONG, window);
        MPI_Win_flush(home, window);
        work_us(looking_us);
        MPI_Accumulate(&one, 1, MPI_LONG, home, 0, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(home, window); /* place end */
        return task;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long tasks = truth_number(&truth, 1, 50);
    double us = truth_number(&truth, 2, 3000), looking_us = truth.mode == SICK ? truth_number(&truth, 3, 600) : 0;
    {
        Tasks list((int)truth_number(&truth, 4, 0), looking_us);
        for (long task = 0; task < tasks; task++) {
            list.take();
            work_us(us);
        }
    }
    truth_end(&truth);
}
