/*
 * nqueens: in how many ways N queens stand on a board without threatening each other.
 *
 *     nqueens [N=9] [CUTOFF=4]
 *
 * A task for each safe place of a queen in the first CUTOFF rows, which gets its own copy of the board; plain calls in the
 * rows below. Tasks are of very different lengths, and many of them die at once.
 *
 * One parallel region. As many tasks as there are ways to put queens into the first 1, 2, ... CUTOFF rows, and a taskwait
 * after the tasks of each of them; both are counted while the tasks run, each in the memory of its creator.
 * Checks the result against the known numbers.
 */
#include "program.h"

enum { MOST = 14 };

struct board {
    int rows;
    signed char column[MOST];
};

struct found {
    long solutions, tasks;
};

static int n, cutoff;

static int safe(const struct board *board, int column)
{
    for (int row = 0; row < board->rows; row++) {
        int apart = column - board->column[row];
        if (apart == 0 || apart == board->rows - row || apart == row - board->rows)
            return 0;
    }
    return 1;
}

static struct board with(const struct board *board, int column)
{
    struct board next = *board;
    next.column[next.rows++] = (signed char)column;
    return next;
}

static long plain(const struct board *board)
{
    if (board->rows == n)
        return 1;
    long solutions = 0;
    for (int column = 0; column < n; column++)
        if (safe(board, column)) {
            struct board next = with(board, column);
            solutions += plain(&next);
        }
    return solutions;
}

static struct found place(struct board board)
{
    if (board.rows >= cutoff || board.rows == n)
        return (struct found){plain(&board), 0};
    struct found all = {0, 0}, each[MOST] = {{0, 0}};
    for (int column = 0; column < n; column++)
        if (safe(&board, column)) {
            all.tasks++;
            struct board next = with(&board, column);
#pragma omp task shared(each) firstprivate(next, column)
            each[column] = place(next);
        }
#pragma omp taskwait
    for (int column = 0; column < n; column++) {
        all.solutions += each[column].solutions;
        all.tasks += each[column].tasks;
    }
    return all;
}

int main(int argc, char **argv)
{
    static const long known[MOST + 1] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
    n = (int)number(argc, argv, 1, 9, 1, MOST);
    cutoff = (int)number(argc, argv, 2, 4, 0, MOST);
    struct found found = {0, 0};
#pragma omp parallel
#pragma omp single
    found = place((struct board){0, {0}});
    printf("nqueens: %d queens stand in %ld ways, regions 1, tasks %ld\n", n, found.solutions, found.tasks);
    return found.solutions == known[n] ? 0 : 1;
}
