/* Windows of all kinds, their attributes, all operations and synchronisations. */
#include "coverage.h"

static int handled;

static void handle(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    handled++;
}

static void about_windows(MPI_Win win)
{
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler ours, now;
    int n, key, value = 3, *found, flag, length;
    char name[MPI_MAX_OBJECT_NAME];
    CALL(MPI_Win_get_group, win, &group);
    CALL(MPI_Group_size, group, &n);
    CHECK(n == size);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Win_set_name, win, "window");
    CALL(MPI_Win_get_name, win, name, &length);
    CHECK(strcmp(name, "window") == 0);
    CALL(MPI_Win_create_keyval, MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Win_set_attr, win, key, &value);
    CALL(MPI_Win_get_attr, win, key, &found, &flag);
    CHECK(flag && found == &value);
    CALL(MPI_Win_delete_attr, win, key);
    CALL(MPI_Win_free_keyval, &key);
    CALL(MPI_Win_get_info, win, &info);
    CALL(MPI_Win_set_info, win, info);
    CALL(MPI_Info_free, &info);
    CALL(MPI_Win_create_errhandler, handle, &ours);
    CALL(MPI_Win_set_errhandler, win, ours);
    CALL(MPI_Win_get_errhandler, win, &now);
    CHECK(now == ours);
    CALL(MPI_Win_call_errhandler, win, MPI_ERR_OTHER);
    CHECK(handled == 1);
    CALL(MPI_Win_set_errhandler, win, MPI_ERRORS_ARE_FATAL);
    CALL(MPI_Errhandler_free, &now);
    CALL(MPI_Errhandler_free, &ours);
}

static void by_fence(void)
{
    int memory[4] = {-1, 10 * rank, 1, 1}, got = -1, old = -1, one = 1;
    MPI_Win win;
    CALL(MPI_Win_create, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    about_windows(win);
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Put, &rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    CALL(MPI_Get, &got, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    CALL(MPI_Accumulate, &one, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win);
    CALL(MPI_Get_accumulate, &one, 1, MPI_INT, &old, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM,
         win);
    CALL(MPI_Win_fence, 0, win);
    CHECK(memory[0] == left && memory[2] == 2 && memory[3] == 2);
    CHECK(got == 10 * right && old == 1);
    CALL(MPI_Win_free, &win);
    CHECK(win == MPI_WIN_NULL);
}

static void by_group(void)
{
    int *memory, flag = 0;
    MPI_Win win;
    MPI_Group world, origin, target;
    /* 64 bytes: MPICH 4.0 mislays windows whose size is no multiple of 16. */
    CALL(MPI_Win_allocate, 64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
         &win);
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
    CALL(MPI_Group_incl, world, 1, &left, &origin);
    CALL(MPI_Group_incl, world, 1, &right, &target);
    for (int round = 0; round < 2; round++) {
        CALL(MPI_Win_post, origin, 0, win);
        CALL(MPI_Win_start, target, 0, win);
        CALL(MPI_Put, &rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        CALL(MPI_Win_complete, win);
        if (round == 0)
            CALL(MPI_Win_wait, win);
        while (round == 1 && !flag)
            CALL(MPI_Win_test, win, &flag);
        CHECK(*memory == left);
    }
    CALL(MPI_Group_free, &origin);
    CALL(MPI_Group_free, &target);
    CALL(MPI_Group_free, &world);
    CALL(MPI_Win_free, &win);
}

static void by_lock(void)
{
    long memory[4] = {0, 0, 0, 0}, one = 1, zero = 0, old = -1, got = -1, mine = rank;
    MPI_Win win;
    MPI_Request request;
    CALL(MPI_Win_create, memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CALL(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, right, 0, win);
    CALL(MPI_Fetch_and_op, &one, &old, MPI_LONG, right, 0, MPI_SUM, win);
    CALL(MPI_Win_flush, right, win);
    CHECK(old == 0);
    CALL(MPI_Compare_and_swap, &one, &zero, &old, MPI_LONG, right, 1, win);
    CALL(MPI_Win_unlock, right, win);
    CHECK(old == 0);
    CALL(MPI_Barrier, MPI_COMM_WORLD);

    CALL(MPI_Win_lock_all, 0, win);
    CALL(MPI_Rput, &mine, 1, MPI_LONG, right, 2, 1, MPI_LONG, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Win_flush_local, right, win);
    CALL(MPI_Rget, &got, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(got == 1);
    CALL(MPI_Raccumulate, &one, 1, MPI_LONG, right, 3, 1, MPI_LONG, MPI_SUM, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Win_flush_local_all, win);
    CALL(MPI_Win_flush_all, win);
    CALL(MPI_Rget_accumulate, &one, 1, MPI_LONG, &old, 1, MPI_LONG, right, 3, 1, MPI_LONG, MPI_SUM,
         win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(old == 1);
    CALL(MPI_Win_sync, win);
    CALL(MPI_Win_unlock_all, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Win_lock, MPI_LOCK_SHARED, rank, 0, win);
    CHECK(memory[0] == 1 && memory[1] == 1 && memory[2] == left && memory[3] == 2);
    CALL(MPI_Win_unlock, rank, win);
    CALL(MPI_Win_free, &win);
}

static void shared_and_dynamic(void)
{
    MPI_Comm node;
    MPI_Win win;
    int *mine, *first, unit, place, number = rank;
    MPI_Aint bytes, address, there;
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    CALL(MPI_Comm_rank, node, &place);
    CALL(MPI_Win_allocate_shared, sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &win);
    CALL(MPI_Win_fence, 0, win);
    *mine = place;
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Win_shared_query, win, 0, &bytes, &unit, &first);
    CHECK(bytes == sizeof *mine && *first == 0);
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Win_free, &win);
    CALL(MPI_Comm_free, &node);

    CALL(MPI_Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CALL(MPI_Win_attach, win, &number, sizeof number);
    CALL(MPI_Get_address, &number, &address);
    CALL(MPI_Sendrecv, &address, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1,
         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int value = 100 + rank;
    CALL(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, right, 0, win);
    CALL(MPI_Put, &value, 1, MPI_INT, right, there, 1, MPI_INT, win);
    CALL(MPI_Win_unlock, right, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Win_lock, MPI_LOCK_SHARED, rank, 0, win);
    CHECK(*(volatile int *)&number == 100 + left);
    CALL(MPI_Win_unlock, rank, win);
    CALL(MPI_Win_detach, win, &number);
    CALL(MPI_Win_free, &win);
}

void cover_one_sided(void)
{
    if (size < 2) /* Open MPI 4.1 cannot make a window for one rank */
        return;
    by_fence();
    by_group();
    by_lock();
    shared_and_dynamic();
}
