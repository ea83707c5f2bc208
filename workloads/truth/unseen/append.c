/* Snapshots in one file, to which ranks append their parts in order: each waits for the word of the one before, writes, and gives
 * the word to the next, every fourth step. The fix writes at offsets that follow from the sizes, all ranks at the same time.
 *
 * arguments: steps, work of each rank (us), writing one part (us), every how many steps
 * disease: serialised-io serialised-section pipeline-fill
 * run: 12 smpi=12 args="80 3000 520 4"
 */
#include "truth.h"

enum { WORD = 5, EDGE = 60 };

struct output {
    int before, behind;
    double write_us;
};

static void wait_for_word(const struct output *output)
{
    MPI_Recv(NULL, 0, MPI_BYTE, output->before, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the place */
}

static void give_word(const struct output *output)
{
    MPI_Send(NULL, 0, MPI_BYTE, output->behind, WORD, MPI_COMM_WORLD); /* the place */
}

static void append(const struct output *output, double spread)
{
    wait_for_word(output); /* place begin */
    work_us(output->write_us * spread);
    give_word(output); /* place end */
}

static void write_at_offset(const struct output *output, double spread)
{
    long mine = 100, offset = 0;
    MPI_Exscan(&mine, &offset, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    work_us(output->write_us * spread);
}

static double advance(const struct truth *truth, long step, double us)
{
    double edge[EDGE] = {0}, halo[EDGE], mine = 1, all;
    work_us(us * (0.98 + 0.04 * chance(29, (uint64_t)step, (uint64_t)truth->rank)));
    MPI_Sendrecv(edge, EDGE, MPI_DOUBLE, (truth->rank + 1) % truth->ranks, 0, halo, EDGE, MPI_DOUBLE,
                 (truth->rank + truth->ranks - 1) % truth->ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80), often = truth_number(&truth, 4, 4);
    double us = truth_number(&truth, 2, 3000);
    struct output output = {truth.rank - 1, truth.rank + 1, truth_number(&truth, 3, 520)};
    if (truth.rank == 0)
        output.before = MPI_PROC_NULL;
    if (truth.rank == truth.ranks - 1)
        output.behind = MPI_PROC_NULL;
    for (long step = 0; step < steps; step++) {
        advance(&truth, step, us);
        if (step % often == often - 1) {
            double spread = 0.95 + 0.1 * chance(30, (uint64_t)step, (uint64_t)truth.rank);
            truth.mode == SICK ? append(&output, spread) : write_at_offset(&output, spread); /* the place */
        }
    }
    truth_end(&truth);
}
