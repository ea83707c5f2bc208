/* Every fifth step rank 0 writes a checkpoint alone through MPI-IO and waits until it is on the disk.
 *
 * arguments: steps, work of each rank (us), doubles of a checkpoint, every how many steps
 * disease: serialised-io slow-call
 * blamed: 0
 * run: 4 real=4 args="50 4000 3000000 5"
 */
#include "truth.h"

#include <unistd.h>

static void checkpoint(const char *name, const double *x, int length)
{
    MPI_File file; /* place begin */
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, x, length, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_close(&file); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50), every = truth_number(&truth, 4, 5);
    int length = (int)truth_number(&truth, 3, 3000000);
    double us = truth_number(&truth, 2, 4000), mine = 1, all, *x = calloc((size_t)length, sizeof(double));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK && step % every == every - 1 && truth.rank == 0)
            checkpoint("checkpoint.data", x, length);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (truth.rank == 0)
        unlink("checkpoint.data");
    truth_end(&truth);
}
