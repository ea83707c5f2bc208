/* A grid of ranks in 2-D that needs means along both of its axes in every step. The function that makes them has all it needs
 * in one place: it makes a communicator for the axis and a datatype for what is added up, uses each once, and frees both.
 * Made once for each axis, only the sums are left.
 *
 * arguments: steps, work of each rank (us)
 * disease: repeated-communicator needless-collective
 * run: 24 smpi=24 args="300 300" overhead=5e-6
 */
#include "truth.h"

enum { ROWS = 16, COLUMNS = 32 };

struct grid {
    MPI_Comm comm;
    int place[2];
    double field[ROWS][COLUMNS], mean[ROWS];
};

/* What is needed for a mean along an axis. */
struct line {
    MPI_Comm comm;
    MPI_Datatype column;
};

static struct line line_along(const struct grid *grid, int axis)
{
    struct line line;
    MPI_Comm_split(grid->comm, grid->place[1 - axis], grid->place[axis], &line.comm); /* the place */
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &line.column);
    MPI_Type_commit(&line.column);
    return line;
}

static void free_line(struct line *line)
{
    MPI_Type_free(&line->column);
    MPI_Comm_free(&line->comm);
}

static void mean_along(struct grid *grid, int axis, const struct line *made)
{
    double column[ROWS];
    struct line line = made ? *made : line_along(grid, axis); /* the place */
    MPI_Sendrecv(&grid->field[0][axis], 1, line.column, 0, 0, column, ROWS, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Allreduce(column, grid->mean, ROWS, MPI_DOUBLE, MPI_SUM, line.comm);
    if (!made)
        free_line(&line);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 300);
    double us = truth_number(&truth, 2, 300);
    static struct grid grid;
    int sizes[2] = {0, 0}, around[2] = {1, 1};
    MPI_Dims_create(truth.ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, 0, &grid.comm);
    MPI_Cart_coords(grid.comm, truth.rank, 2, grid.place);
    struct line lines[2] = {line_along(&grid, 0), line_along(&grid, 1)};
    for (long step = 0; step < steps; step++) {
        work_us(us);
        mean_along(&grid, 0, truth.mode == SICK ? NULL : &lines[0]); /* the place */
        work_us(us);
        mean_along(&grid, 1, truth.mode == SICK ? NULL : &lines[1]); /* the place */
    }
    free_line(&lines[0]);
    free_line(&lines[1]);
    truth_end(&truth);
}
