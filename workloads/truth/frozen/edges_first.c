/* A torus of ranks with a thick plate, rows and columns by derived datatypes, exchanged by persistent requests. They are
 * waited for as soon as they are started, and then comes the inside, which is most of the work and needs none of them. With
 * the inside between start and wait, edges travel meanwhile.
 *
 * arguments: steps, work of each rank on the inside (us), on the border (us), cells along a side and through the plate
 * disease: transfer
 * run: 16 smpi=16 args="80 3000 300 200 200"
 */
#include "truth.h"

struct torus {
    MPI_Comm grid;
    MPI_Datatype row, column;
    MPI_Request requests[8];
    double *field, *halo;
};

static struct torus make_torus(int ranks, int side, int thick)
{
    struct torus torus;
    int sizes[2] = {0, 0}, around[2] = {1, 1}, beside[4], edge = side * thick;
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &torus.grid);
    MPI_Cart_shift(torus.grid, 0, 1, &beside[0], &beside[1]);
    MPI_Cart_shift(torus.grid, 1, 1, &beside[2], &beside[3]);
    MPI_Type_contiguous(edge, MPI_DOUBLE, &torus.row);
    MPI_Type_vector(side, thick, edge, MPI_DOUBLE, &torus.column);
    MPI_Type_commit(&torus.row);
    MPI_Type_commit(&torus.column);
    torus.field = calloc((size_t)side * (size_t)edge, sizeof(double));
    torus.halo = calloc((size_t)edge * 4, sizeof(double));
    /* First and last row, first and last column. */
    double *borders[4] = {torus.field, torus.field + (side - 1) * edge, torus.field, torus.field + (side - 1) * thick};
    for (int way = 0; way < 4; way++) {
        MPI_Datatype type = way < 2 ? torus.row : torus.column;
        MPI_Recv_init(torus.halo + way * edge, edge, MPI_DOUBLE, beside[way], way ^ 1, torus.grid, &torus.requests[way]);
        MPI_Send_init(borders[way], 1, type, beside[way], way, torus.grid, &torus.requests[4 + way]);
    }
    return torus;
}

static void start(struct torus *torus)
{
    MPI_Startall(8, torus->requests);
}

static void finish(struct torus *torus)
{
    MPI_Waitall(8, torus->requests, MPI_STATUSES_IGNORE); /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double inside_us = truth_number(&truth, 2, 3000), border_us = truth_number(&truth, 3, 300);
    struct torus torus = make_torus(truth.ranks, (int)truth_number(&truth, 4, 200), (int)truth_number(&truth, 5, 200));
    for (long step = 0; step < steps; step++) {
        start(&torus); /* place begin */
        if (truth.mode != SICK)
            work_us(inside_us);
        finish(&torus);
        if (truth.mode == SICK)
            work_us(inside_us); /* place end */
        work_us(border_us);
    }
    truth_end(&truth);
}
