/* Nothing is wrong: molecules in a box in 3-D. Positions of ghosts travel in six directions while forces between inner molecules are
 * computed; every twelfth step all ranks make lists of neighbours, and molecules that have left a rank's box go on to the next.
 *
 * arguments: steps, forces between inner molecules (us), between others (us), lists of neighbours (us), doubles of a face
 * run: 27 smpi=27 args="96 3500 900 4000 1200"
 */
#include "truth.h"

enum { SIDES = 6, LISTS = 12, LEAVING = 400 };

struct box {
    MPI_Comm grid;
    int beside[SIDES], face, rank;
    double *out, *in;
    MPI_Request requests[2 * SIDES];
};

static struct box make_box(const struct truth *truth, int face)
{
    struct box box = {.face = face, .rank = truth->rank};
    int sizes[3] = {0, 0, 0}, around[3] = {1, 1, 1};
    MPI_Dims_create(truth->ranks, 3, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, around, 0, &box.grid);
    for (int axis = 0; axis < 3; axis++)
        MPI_Cart_shift(box.grid, axis, 1, &box.beside[2 * axis], &box.beside[2 * axis + 1]);
    box.out = calloc((size_t)(SIDES * face), sizeof(double));
    box.in = calloc((size_t)(SIDES * face), sizeof(double));
    return box;
}

static void begin_ghosts(struct box *box)
{
    for (int side = 0; side < SIDES; side++)
        MPI_Irecv(box->in + side * box->face, box->face, MPI_DOUBLE, box->beside[side], side ^ 1, box->grid, &box->requests[side]);
    for (int side = 0; side < SIDES; side++)
        MPI_Isend(box->out + side * box->face, box->face, MPI_DOUBLE, box->beside[side], side, box->grid,
                  &box->requests[SIDES + side]);
}

static void migrate(struct box *box)
{
    for (int axis = 0; axis < 3; axis++)
        MPI_Sendrecv(box->out, LEAVING, MPI_DOUBLE, box->beside[2 * axis + 1], 20 + axis, box->in, LEAVING, MPI_DOUBLE,
                     box->beside[2 * axis], 20 + axis, box->grid, MPI_STATUS_IGNORE);
}

static double about(double us, long step, int part, int rank)
{
    return us * (0.98 + 0.04 * chance(35, (uint64_t)(3 * step + part), (uint64_t)rank));
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 96);
    double inner_us = truth_number(&truth, 2, 3500), outer_us = truth_number(&truth, 3, 900), lists_us = truth_number(&truth, 4, 4000);
    struct box box = make_box(&truth, (int)truth_number(&truth, 5, 1200));
    for (long step = 0; step < steps; step++) {
        if (step % LISTS == 0) {
            migrate(&box);
            work_us(about(lists_us, step, 0, truth.rank));
        }
        begin_ghosts(&box);
        work_us(about(inner_us, step, 1, truth.rank));
        MPI_Waitall(2 * SIDES, box.requests, MPI_STATUSES_IGNORE);
        work_us(about(outer_us, step, 2, truth.rank));
    }
    truth_end(&truth);
}
