/* Multigrid: a V-cycle smooths on finer and coarser grids, with halo exchange on each. The coarsest one goes to rank 0, which
 * factorises its matrix and solves, in every cycle, while all others wait for their part of the solution. The matrix is
 * always the same: factorised once before, only solving is left, which is short.
 *
 * arguments: cycles, work of each rank on the finest grid (us), grids, factorising (us), solving (us), doubles of a halo
 * disease: late-root imbalance
 * blamed: 0
 * run: 8 smpi=8 args="80 2000 3 3000 60 1600"
 * run: 64 smpi=64 args="40 4000 4 5000 100 6400"
 * run: 4 real=4 args="50 5000 3 8000 100 1600"
 */
#include "truth.h"

enum { PART = 16 };

static void exchange(double *out, double *in, int length, int rank, int ranks)
{
    MPI_Request requests[4];
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Irecv(in, length, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + length, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out + length, length, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void solve_coarsest(const struct truth *truth, double factorising_us, double solving_us)
{
    static double part[PART], whole[1024 * PART];
    MPI_Gather(part, PART, MPI_DOUBLE, whole, PART, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* place begin */
    if (truth->rank == 0) {
        if (truth->mode == SICK)
            work_us(factorising_us);
        work_us(solving_us);
    }
    MPI_Scatter(whole, PART, MPI_DOUBLE, part, PART, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long cycles = truth_number(&truth, 1, 50);
    int grids = (int)truth_number(&truth, 3, 3), length = (int)truth_number(&truth, 6, 1600);
    double us = truth_number(&truth, 2, 2000), factorising_us = truth_number(&truth, 4, 3000);
    double solving_us = truth_number(&truth, 5, 60), mine = 1, norm;
    double *out = calloc(2 * (size_t)length, sizeof(double)), *in = calloc(2 * (size_t)length, sizeof(double));
    for (long cycle = 0; cycle < cycles; cycle++) {
        double part = 1;
        int edge = length;
        for (int grid = 0; grid < grids; grid++, part /= 8, edge /= 4) {
            exchange(out, in, edge, truth.rank, truth.ranks);
            work_us(0.6 * us * part);
        }
        solve_coarsest(&truth, factorising_us, solving_us);
        for (int grid = grids - 1; grid >= 0; grid--) {
            part *= 8;
            edge = length >> (2 * grid);
            exchange(out, in, edge, truth.rank, truth.ranks);
            work_us(0.4 * us * part);
        }
        MPI_Allreduce(&mine, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    truth_end(&truth);
}
