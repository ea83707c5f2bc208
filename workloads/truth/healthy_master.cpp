/* Nothing is wrong: a master hands out tasks at once, workers are always busy, and all end at the same time. The master
 * waits for them, as it should.
 *
 * arguments: tasks of each worker, work of a task (us)
 * run: 9 smpi=9 args="40 8000"
 * run: 33 smpi=33 args="30 9000"
 * run: 5 real=5 args="40 12000"
 */
#include "truth.h"

class Master {
    long left;
    int workers;

public:
    Master(long tasks, int workers) : left(tasks), workers(workers) {}
    void run()
    {
        for (int at_work = workers; at_work > 0;) {
            MPI_Status status;
            double result;
            MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            int more = left-- > 0;
            MPI_Send(&more, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
            at_work -= !more;
        }
    }
};

static void worker(double us)
{
    for (int more = 1; more;) {
        double result = 1;
        MPI_Send(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (more)
            work_us(us);
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    int workers = truth.ranks - 1;
    if (truth.rank == 0)
        Master(truth_number(&truth, 1, 40) * workers, workers).run();
    else
        worker((double)truth_number(&truth, 2, 8000));
    truth_end(&truth);
}
