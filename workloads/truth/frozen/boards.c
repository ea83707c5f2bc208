/* Branch and bound in groups of eight ranks. Each group has a board with its best solution, in the window of its first rank:
 * ranks look there for a bound, and put up what is better. Both lock the board and check what stands there for a while
 * before they let go of it. Checked before the lock is taken, with only a look at its number under the lock, nobody waits.
 *
 * arguments: steps, work of each rank before each of its two visits (us), checking (us)
 * disease: lock-contention serialised-section
 * run: 16 smpi=16 args="100 1300 220"
 */
#include "truth.h"

enum { GROUP = 8 };

struct board {
    MPI_Comm group;
    MPI_Win window;
    double *best;
    double checking_us;
    enum truth_mode mode;
};

static struct board put_up_board(const struct truth *truth, double checking_us)
{
    struct board board = {.checking_us = checking_us, .mode = truth->mode};
    MPI_Comm_split(MPI_COMM_WORLD, truth->rank / GROUP, truth->rank, &board.group);
    MPI_Win_allocate(2 * sizeof(double), sizeof(double), MPI_INFO_NULL, board.group, &board.best, &board.window);
    return board;
}

static double visit(struct board *board, double better)
{
    double stood[2];
    if (board->mode != SICK)
        work_us(board->checking_us);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, board->window); /* place begin */
    MPI_Get(stood, 2, MPI_DOUBLE, 0, 0, 2, MPI_DOUBLE, board->window);
    MPI_Win_flush(0, board->window);
    if (board->mode == SICK)
        work_us(board->checking_us);
    if (better < stood[0])
        MPI_Put(&better, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, board->window);
    MPI_Win_unlock(0, board->window); /* place end */
    return stood[0];
}

static double bound_of(struct board *board)
{
    return visit(board, 1); /* the place */
}

static void publish(struct board *board, double solution)
{
    visit(board, solution); /* the place */
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 70);
    double us = truth_number(&truth, 2, 1000);
    struct board board = put_up_board(&truth, truth_number(&truth, 3, 220));
    for (long step = 0; step < steps; step++) {
        work_us(us);
        double bound = bound_of(&board);
        work_us(us);
        publish(&board, bound - 0.001 * (double)(step % 10));
    }
    MPI_Win_free(&board.window);
    MPI_Comm_free(&board.group);
    truth_end(&truth);
}
