/* A solver with three stages in each step, behind each of which a library updates ghosts. The library makes a window of the array in
 * each update and frees it again, so that its caller need not care; all ranks have to agree on it each time. The fix makes the
 * window once.
 *
 * arguments: steps, work of each rank in a stage (us)
 * disease: repeated-communicator needless-collective slow-call
 * sources: ghosts_lib.c
 * run: 24 smpi=24 args="200 600" overhead=4e-6
 */
#include "ghosts_lib.h"
#include "truth.h"

enum { INNER = 2000, WIDTH = 50, STAGES = 3 };

static void stage(struct ghosts *ghosts, double us)
{
    work_us(us);
    ghosts_update(ghosts); /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 200);
    double us = truth_number(&truth, 2, 600);
    double *field = calloc(INNER + 2 * WIDTH, sizeof(double));
    struct ghosts *ghosts = ghosts_make(field, INNER, WIDTH, MPI_COMM_WORLD, truth.mode != SICK);
    for (long step = 0; step < steps * STAGES; step++)
        stage(ghosts, us * (0.985 + 0.03 * chance(32, (uint64_t)step, (uint64_t)truth.rank)));
    ghosts_free(ghosts);
    free(field);
    truth_end(&truth);
}
