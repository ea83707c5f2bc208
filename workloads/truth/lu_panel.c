/* An LU factorisation on a square grid of ranks, with a communicator for each row and each column. In every step another
 * rank on the diagonal factors a panel while all others wait for it; the panel goes along its row and from there along the
 * columns, and then all update. The fix looks ahead: the panel is factored and sent on its way before the update, and
 * waited for behind it.
 *
 * arguments: steps, factoring a panel (us), update (us), rows of the grid, doubles of a panel
 * disease: late-root moving-imbalance random-imbalance imbalance
 * run: 16 smpi=16 args="80 2000 4000 4 2000" blamed=0,5,10,15
 * run: 4 real=4 args="80 6000 8000 2 200" blamed=0,3
 */
#include "truth.h"

struct grid {
    MPI_Comm row, column;
    int my_row, my_column;
};

static struct grid grid_of(int rank, int rows)
{
    struct grid grid = {MPI_COMM_NULL, MPI_COMM_NULL, rank / rows, rank % rows};
    MPI_Comm_split(MPI_COMM_WORLD, grid.my_row, grid.my_column, &grid.row);
    MPI_Comm_split(MPI_COMM_WORLD, grid.my_column, grid.my_row, &grid.column);
    return grid;
}

static void factor_and_update(const struct grid *grid, int diagonal, double *panel, int length, double panel_us, double us)
{
    if (grid->my_row == diagonal && grid->my_column == diagonal)
        work_us(panel_us); /* place begin */
    MPI_Bcast(panel, length, MPI_DOUBLE, diagonal, grid->row);
    MPI_Bcast(panel, length, MPI_DOUBLE, diagonal, grid->column); /* place end */
    work_us(us);
}

static void look_ahead(const struct grid *grid, int diagonal, double *panel, int length, double panel_us, double us)
{
    MPI_Request along_row, along_column;
    if (grid->my_row == diagonal && grid->my_column == diagonal) {
        work_us(panel_us);
        MPI_Ibcast(panel, length, MPI_DOUBLE, diagonal, grid->row, &along_row);
        MPI_Ibcast(panel, length, MPI_DOUBLE, diagonal, grid->column, &along_column);
        work_us(us);
        MPI_Wait(&along_row, MPI_STATUS_IGNORE);
    } else {
        MPI_Ibcast(panel, length, MPI_DOUBLE, diagonal, grid->row, &along_row);
        work_us(us);
        MPI_Wait(&along_row, MPI_STATUS_IGNORE);
        MPI_Ibcast(panel, length, MPI_DOUBLE, diagonal, grid->column, &along_column);
    }
    MPI_Wait(&along_column, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 80);
    int rows = (int)truth_number(&truth, 4, 4), length = (int)truth_number(&truth, 5, 2000);
    double panel_us = truth_number(&truth, 2, 2000), us = truth_number(&truth, 3, 4000), mine = 1, all;
    double *panel = calloc((size_t)length, sizeof(double));
    struct grid grid = grid_of(truth.rank, rows);
    for (long step = 0; step < steps; step++) {
        int diagonal = (int)(step % rows);
        if (truth.mode == SICK)
            factor_and_update(&grid, diagonal, panel, length, panel_us, us);
        else
            look_ahead(&grid, diagonal, panel, length, panel_us, us);
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    truth_end(&truth);
}
