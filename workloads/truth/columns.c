/* Ranks in rows and columns with communicators of their own: sums along rows, then along columns. All ranks of one column
 * have more to do, so every row waits.
 *
 * arguments: steps, work of each rank (us), additional work in that column (us), columns, the column
 * disease: imbalance
 * run: 4x4 smpi=16 args="60 2000 2000 4 1" blamed=1,5,9,13
 * run: 4x8 smpi=32 args="60 1000 3000 8 7" blamed=7,15,23,31 fix=balance
 * run: 3x2 real=6 args="60 3000 4000 2 1" blamed=1,3,5
 */
#include "truth.h"

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    int columns = (int)truth_number(&truth, 4, 4), late = (int)truth_number(&truth, 5, 1);
    int row = truth.rank / columns, column = truth.rank % columns;
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 2000), more_us = truth_number(&truth, 3, 2000), mine[10] = {1}, all[10];
    us += truth.mode == BALANCE ? more_us / columns : truth.mode == SICK && column == late ? more_us : 0;
    MPI_Comm along_row, along_column;
    MPI_Comm_split(MPI_COMM_WORLD, row, column, &along_row);
    MPI_Comm_split(MPI_COMM_WORLD, column, row, &along_column);
    for (long step = 0; step < steps; step++) {
        work_us(us);                                                  /* place begin */
        MPI_Allreduce(mine, all, 10, MPI_DOUBLE, MPI_SUM, along_row); /* place end */
        MPI_Allreduce(mine, all, 10, MPI_DOUBLE, MPI_SUM, along_column);
    }
    truth_end(&truth);
}
