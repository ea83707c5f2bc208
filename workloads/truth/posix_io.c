/* Every so many steps rank 0 writes a restart file alone by write and fsync, while all others wait in the next sum. The
 * system's own calls are seen only where they are recorded too.
 *
 * arguments: steps, work of each rank (us), kilobytes of a file, every how many steps
 * disease: serialised-io rare-imbalance
 * blamed: 0
 * options: --io
 * run: 4 real=4 args="60 3000 16000 5"
 * run: 2 real=2 args="60 5000 8000 3"
 */
#include "truth.h"

#include <fcntl.h>
#include <unistd.h>

static void restart_file(const char *data, size_t bytes)
{
    int file = open("restart.data", O_WRONLY | O_CREAT | O_TRUNC, 0600); /* place begin */
    for (size_t done = 0; file >= 0 && done < bytes;) {
        ssize_t written = write(file, data + done, bytes - done < 1 << 20 ? bytes - done : 1 << 20);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    fsync(file);
    close(file); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60), every = truth_number(&truth, 4, 5);
    size_t bytes = (size_t)truth_number(&truth, 3, 16000) * 1000;
    double us = truth_number(&truth, 2, 3000), mine = 1, all;
    char *data = calloc(bytes, 1);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.mode == SICK && truth.rank == 0 && step % every == every - 1)
            restart_file(data, bytes);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the place */
    }
    if (truth.rank == 0)
        unlink("restart.data");
    truth_end(&truth);
}
