/* Sweeps of a smoother along a line of ranks, first from red to black, then back. Behind each sweep all ranks add up their
 * residuals to see if they may stop, which they never may before hundreds of sweeps. The sum costs a good part of a sweep,
 * as the machine takes a while for a message. The fixed run asks every twentieth time.
 *
 * arguments: pairs of sweeps, work of each rank on a sweep (us), how often the fixed run asks
 * disease: needless-collective tiny-collectives
 * run: 32 smpi=32 args="250 700 20" overhead=4e-6
 */
#include "truth.h"

enum { LENGTH = 100 };

struct line {
    int left, right;
    double out[LENGTH], in[LENGTH];
};

static void exchange(struct line *line)
{
    MPI_Sendrecv(line->out, LENGTH, MPI_DOUBLE, line->right, 0, line->in, LENGTH, MPI_DOUBLE, line->left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static double reduce_residual(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the place */
    return all;
}

static int red_to_black(struct line *line, double us, int ask)
{
    work_us(us);
    exchange(line);
    return ask && reduce_residual(1) < 1e-9; /* the place */
}

static int black_to_red(struct line *line, double us, int ask)
{
    work_us(us);
    exchange(line);
    return ask && reduce_residual(1) < 1e-9; /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long pairs = truth_number(&truth, 1, 400), every = truth.mode == SICK ? 1 : truth_number(&truth, 3, 20);
    double us = truth_number(&truth, 2, 250);
    struct line line = {truth.rank > 0 ? truth.rank - 1 : MPI_PROC_NULL,
                        truth.rank + 1 < truth.ranks ? truth.rank + 1 : MPI_PROC_NULL, {0}, {0}};
    for (long pair = 0; pair < pairs; pair++) {
        int ask = pair % every == every - 1;
        if (red_to_black(&line, us, ask) || black_to_red(&line, us, ask))
            break;
    }
    truth_end(&truth);
}
