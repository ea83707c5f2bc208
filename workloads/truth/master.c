/* A master hands out tasks one by one to whoever is free, and works on each result before the next task goes out:
 * workers queue at it.
 *
 * arguments: tasks, work of a task (us), work of the master on each result (us)
 * disease: imbalance late-sender collection-loop
 * blamed: 0
 * run: 8 smpi=8 args="300 3000 2000"
 * run: 24 smpi=24 args="400 8000 1500"
 * run: 5 real=5 args="150 6000 4000"
 */
#include "truth.h"

enum { TASK = 1, RESULT = 2, LENGTH = 100 };

static void hand_out(const struct truth *truth, long tasks, double result_us)
{
    static double result[LENGTH];
    long given = 0;
    for (int worker = 1; worker < truth->ranks; worker++, given++)
        MPI_Send(&given, 1, MPI_LONG, worker, TASK, MPI_COMM_WORLD);
    for (long done = 0; done < tasks; done++) {
        MPI_Status status;
        MPI_Recv(result, LENGTH, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        long next = given < tasks ? given++ : -1; /* place begin */
        work_us(result_us);
        MPI_Send(&next, 1, MPI_LONG, status.MPI_SOURCE, TASK, MPI_COMM_WORLD); /* place end */
    }
}

static void work_on(double task_us)
{
    static double result[LENGTH];
    for (;;) {
        long task;
        MPI_Recv(&task, 1, MPI_LONG, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0)
            return;
        work_us(task_us);
        MPI_Send(result, LENGTH, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long tasks = truth_number(&truth, 1, 300);
    double task_us = truth_number(&truth, 2, 3000), result_us = truth_number(&truth, 3, 2000);
    if (truth.mode == FIX)
        result_us = 50;
    if (truth.rank == 0)
        hand_out(&truth, tasks, result_us);
    else
        work_on(task_us);
    truth_end(&truth);
}
