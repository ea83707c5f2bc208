/* A one-sided halo exchange with passive targets: each rank locks its right neighbour's window, packs, and puts its edge
 * there. Meanwhile that neighbour wants its own window for an update and waits for the lock: even ranks while odd ones
 * pack, and the other way round. The fix packs before it takes the lock.
 *
 * arguments: steps, work of each rank (us), packing (us), update (us)
 * disease: lock-contention
 * fix: balance
 * run: 8 smpi=8 args="60 500 2000 500"
 * run: 4 real=4 args="60 2000 8000 2000"
 */
#include "truth.h"

enum { LENGTH = 1000, TOGETHER = 5 };

struct halo {
    MPI_Win window;
    int right, rank, lock_first;
    double packing_us, update_us;
};

static void give(const struct halo *halo, const double *edge)
{
    if (!halo->lock_first)
        work_us(halo->packing_us);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, halo->right, 0, halo->window); /* place begin */
    if (halo->lock_first)
        work_us(halo->packing_us);
    MPI_Put(edge, LENGTH, MPI_DOUBLE, halo->right, 0, LENGTH, MPI_DOUBLE, halo->window);
    MPI_Win_unlock(halo->right, halo->window); /* place end */
}

static void update(const struct halo *halo)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, halo->rank, 0, halo->window); /* place begin */
    work_us(halo->update_us);
    MPI_Win_unlock(halo->rank, halo->window); /* place end */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 500), packing_us = truth_number(&truth, 3, 2000);
    double update_us = truth_number(&truth, 4, 500), mine = 1, all, *edges, *edge = calloc(LENGTH, sizeof(double));
    double moment_us = packing_us / 20, rest_us = packing_us - update_us - moment_us;
    int right = (truth.rank + 1) % truth.ranks;
    struct halo halo = {MPI_WIN_NULL, right, truth.rank, truth.mode == SICK, packing_us, update_us};
    MPI_Win_allocate(LENGTH * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &edges, &halo.window);
    for (long step = 0; step < steps; step++) {
        work_us(us);
        if (truth.rank % 2 == 1) {
            give(&halo, edge);
            update(&halo);
        } else {
            work_us(moment_us);
            update(&halo);
            work_us(rest_us);
            give(&halo, edge);
        }
        if (step % TOGETHER == TOGETHER - 1)
            MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Win_free(&halo.window);
    truth_end(&truth);
}
