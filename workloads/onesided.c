/*
 * onesided: puts, gets and accumulates in all three kinds of synchronisation.
 *
 *     onesided [DOUBLES=8]
 *
 * Calls of each rank (P = ranks, N = DOUBLES; targets are world ranks):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Reduce, MPI_Finalize: 1 each
 *     by fence:   MPI_Win_create 1, MPI_Win_fence 4, MPI_Put 1 (to rank + 1,
 *                 8 N bytes), MPI_Get 1 (from rank - 1, 8 N bytes),
 *                 MPI_Accumulate 1 (to rank 0, 8 bytes), MPI_Win_free 1
 *     by group:   MPI_Win_allocate 1, MPI_Comm_group 1, MPI_Group_incl 2,
 *                 MPI_Win_post 1, MPI_Win_start 1, MPI_Put 1 (to rank + 1, 8 N
 *                 bytes), MPI_Win_complete 1, MPI_Win_wait 1, MPI_Group_free 3,
 *                 MPI_Barrier 1, MPI_Win_free 1
 *     by lock:    MPI_Win_create 1, MPI_Barrier 4, MPI_Win_lock 3,
 *                 MPI_Win_unlock 3, MPI_Win_lock_all 2, MPI_Win_unlock_all 2,
 *                 MPI_Win_flush 2, MPI_Win_flush_local 1, MPI_Win_flush_all 1,
 *                 MPI_Win_sync 1, MPI_Fetch_and_op 1, MPI_Get_accumulate 1
 *                 (8 bytes each, to rank 0), MPI_Put 1 (to rank 0, 8 bytes from
 *                 the last rank, else 0), MPI_Compare_and_swap 1, MPI_Rput 1, MPI_Rget 1,
 *                 MPI_Raccumulate 1 (8 bytes each, rank + 1), MPI_Wait 3,
 *                 MPI_Win_free 1
 * No point-to-point messages.
 */
#include "counted_calls.h"

static int rank, size, right, left, wrong;
static double checksum;

static void by_fence(int n)
{
    /* n numbers from the left, then n numbers to be fetched, then a sum. */
    double *memory = calloc(2 * n + 1, sizeof *memory), *mine = malloc((n + 1) * sizeof *mine);
    double *fetched = calloc(n + 1, sizeof *fetched), one = rank + 1;
    for (int i = 0; i < n; i++) {
        mine[i] = 100.0 * rank + i;
        memory[n + i] = -mine[i];
    }
    MPI_Win win;
    CALL(MPI_Win_create, memory, (2 * n + 1) * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
         MPI_COMM_WORLD, &win);
    CALL(MPI_Win_fence, MPI_MODE_NOPRECEDE, win);
    CALL(MPI_Put, mine, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, win);
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Get, fetched, n, MPI_DOUBLE, left, n, n, MPI_DOUBLE, win);
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Accumulate, &one, 1, MPI_DOUBLE, 0, 2 * n, 1, MPI_DOUBLE, MPI_SUM, win);
    CALL(MPI_Win_fence, MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < n; i++) {
        wrong |= memory[i] != 100.0 * left + i || fetched[i] != -100.0 * left - i;
        checksum += memory[i] * (i + 1);
    }
    wrong |= rank == 0 && memory[2 * n] != size * (size + 1) / 2;
    CALL(MPI_Win_free, &win);
    free(memory), free(mine), free(fetched);
}

static void by_group(int n)
{
    double *memory, *mine = malloc((n + 1) * sizeof *mine);
    MPI_Win win;
    MPI_Group world, origin, target;
    /* A multiple of 64 bytes: MPICH 4.0 mislays windows of other sizes. */
    CALL(MPI_Win_allocate, (n + 7) / 8 * 64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
         &memory, &win);
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
    CALL(MPI_Group_incl, world, 1, &left, &origin);
    CALL(MPI_Group_incl, world, 1, &right, &target);
    for (int i = 0; i < n; i++) {
        mine[i] = 10.0 * rank - i;
        memory[i] = -1;
    }
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Win_post, origin, 0, win);
    CALL(MPI_Win_start, target, 0, win);
    CALL(MPI_Put, mine, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, win);
    CALL(MPI_Win_complete, win);
    CALL(MPI_Win_wait, win);
    for (int i = 0; i < n; i++) {
        wrong |= memory[i] != 10.0 * left - i;
        checksum += memory[i] * (i + 2);
    }
    CALL(MPI_Group_free, &origin);
    CALL(MPI_Group_free, &target);
    CALL(MPI_Group_free, &world);
    CALL(MPI_Win_free, &win);
    free(mine);
}

static void by_lock(void)
{
    enum { TICKETS, SUM, SWAPPED, PUT, RPUT, RSUM, WORDS };
    long *memory, one = 1, ticket = -1, before = -1, mine = rank + 1, zero = 0, found = -1;
    MPI_Win win;
    memory = malloc(WORDS * sizeof *memory);
    CALL(MPI_Win_create, memory, WORDS * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
         MPI_COMM_WORLD, &win);
    /* A local store is an access too: it needs an epoch of its own. */
    CALL(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < WORDS; i++)
        memory[i] = 0;
    CALL(MPI_Win_unlock, rank, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);

    CALL(MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, win);
    CALL(MPI_Fetch_and_op, &one, &ticket, MPI_LONG, 0, TICKETS, MPI_SUM, win);
    CALL(MPI_Win_flush, 0, win);
    CALL(MPI_Get_accumulate, &mine, 1, MPI_LONG, &before, 1, MPI_LONG, 0, SUM, 1, MPI_LONG,
         MPI_SUM, win);
    CALL(MPI_Win_unlock, 0, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    wrong |= ticket < 0 || ticket >= size || before < 0;

    long value = 40 + rank;
    CALL(MPI_Win_lock_all, 0, win);
    CALL(MPI_Compare_and_swap, &mine, &zero, &found, MPI_LONG, right, SWAPPED, win);
    CALL(MPI_Win_flush_local, right, win);
    if (rank == size - 1)
        CALL(MPI_Put, &value, 1, MPI_LONG, 0, PUT, 1, MPI_LONG, win);
    else /* as many calls on every rank */
        CALL(MPI_Put, &value, 0, MPI_LONG, 0, PUT, 0, MPI_LONG, win);
    CALL(MPI_Win_flush, 0, win);
    CALL(MPI_Win_flush_all, win);
    CALL(MPI_Win_unlock_all, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);

    MPI_Request request;
    long fetched = -1;
    CALL(MPI_Win_lock_all, 0, win);
    CALL(MPI_Rput, &value, 1, MPI_LONG, right, RPUT, 1, MPI_LONG, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Win_sync, win);
    CALL(MPI_Raccumulate, &mine, 1, MPI_LONG, right, RSUM, 1, MPI_LONG, MPI_SUM, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Rget, &fetched, 1, MPI_LONG, right, PUT, 1, MPI_LONG, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Win_unlock_all, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);

    CALL(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, rank, 0, win);
    wrong |= memory[RPUT] != 40 + left || memory[RSUM] != left + 1;
    wrong |= memory[SWAPPED] != left + 1 || found != 0;
    wrong |= fetched != (right == 0 ? 40 + size - 1 : 0);
    if (rank == 0) {
        wrong |= memory[TICKETS] != size || memory[SUM] != (long)size * (size + 1) / 2;
        wrong |= memory[PUT] != 40 + size - 1;
        checksum += memory[TICKETS] + 3.0 * memory[SUM] + memory[PUT];
    }
    CALL(MPI_Win_unlock, rank, win);
    CALL(MPI_Win_free, &win);
    free(memory);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 8;
    if (size < 2) { /* Open MPI 4.1 cannot make a window for one rank */
        fprintf(stderr, "onesided: needs 2 ranks\n");
        CALL(MPI_Finalize);
        return 2;
    }
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    by_fence(n);
    by_group(n);
    by_lock();

    double total = 0;
    CALL(MPI_Reduce, &checksum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "onesided: rank %d has wrong numbers\n", rank);
    else if (rank == 0)
        printf("onesided ranks %d doubles %d checksum %.17g\n", size, n, total);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
