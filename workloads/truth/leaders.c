/* Rows of ranks with a leader each: rows add up, leaders add up among themselves, rows hear of it. One leader works on
 * its sum before it gives it away, and its row and all other rows wait for that.
 *
 * arguments: steps, work of each rank (us), additional work of the leader (us), ranks of a row
 * disease: imbalance late-root
 * run: 8 smpi=8 args="100 1000 4000 2" blamed=2
 * run: 32 smpi=32 args="80 2000 3000 4" blamed=4
 * run: 6 real=6 args="80 3000 4000 2" blamed=2
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 100), row_length = truth_number(&truth, 4, 2);
    double us = truth_number(&truth, 2, 1000), leader_us = truth_number(&truth, 3, 4000);
    if (truth.mode == FIX)
        leader_us = 0;
    int leads = truth.rank % row_length == 0, late = truth.rank == row_length;
    MPI_Comm row, leaders;
    MPI_Comm_split(MPI_COMM_WORLD, truth.rank / (int)row_length, truth.rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, leads ? 0 : MPI_UNDEFINED, truth.rank, &leaders);
    MPI_Comm_set_name(row, "row");
    for (long step = 0; step < steps; step++) {
        double mine = 1, of_row = 0, of_all = 0;
        work_us(us);
        MPI_Reduce(&mine, &of_row, 1, MPI_DOUBLE, MPI_SUM, 0, row);
        if (leads) {
            if (late) /* place begin */
                work_us(leader_us);
            MPI_Allreduce(&of_row, &of_all, 1, MPI_DOUBLE, MPI_SUM, leaders); /* place end */
        }
        MPI_Bcast(&of_all, 1, MPI_DOUBLE, 0, row);
    }
    truth_end(&truth);
}
