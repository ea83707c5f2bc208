/*
 * communicators: makes communicators in every way and communicates on each.
 *
 *     communicators
 *
 * On each intracommunicator, `exercise` sends the world rank around the ring of
 * the communicator and sums it up. The tag says which communicator it is:
 *     1 MPI_COMM_WORLD      2 dup                    3 idup
 *     4 dup_with_info       5 split: rank % 3, with the ranks in reverse order
 *     6 split: rank 0 stays out (MPI_UNDEFINED)      7 create_group (even ranks)
 *     8 create (reversed)   9, 10 cart, cart_sub     11 split_type (shared)
 *     12 intercommunicator  13 its merge             14 MPI_COMM_SELF
 * Tags 12 and 13 need two ranks.
 *
 * Calls of each rank: per intracommunicator it is a member of: MPI_Comm_rank 1,
 * MPI_Comm_size 1, MPI_Comm_set_name 1 (not for tags 1 and 14), MPI_Comm_group
 * 2, MPI_Group_translate_ranks 1, MPI_Group_free 2, MPI_Sendrecv 1 (8 bytes, to
 * the next and from the previous rank of the communicator, world ranks in the
 * .messages file), MPI_Allreduce 1 (8 bytes), MPI_Bcast 1 (8 bytes, root the
 * last rank), MPI_Barrier 1. The intercommunicator: see `across`. The creating
 * calls are made once each, or as main shows them.
 */
#include "counted_calls.h"

static int world_rank, world_size, wrong;
static long checksum;

/* Translates ranks of a group to ranks of MPI_COMM_WORLD. */
static void to_world(MPI_Group group, int n, const int *ranks, int *world)
{
    MPI_Group all;
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &all);
    CALL(MPI_Group_translate_ranks, group, n, ranks, all, world);
    CALL(MPI_Group_free, &all);
}

static void exercise(MPI_Comm comm, int tag, const char *name)
{
    if (comm == MPI_COMM_NULL)
        return;
    int rank, size, world[2];
    CALL(MPI_Comm_rank, comm, &rank);
    CALL(MPI_Comm_size, comm, &size);
    if (name)
        CALL(MPI_Comm_set_name, comm, name);
    const int next_and_previous[2] = {(rank + 1) % size, (rank + size - 1) % size};
    MPI_Group group;
    CALL(MPI_Comm_group, comm, &group);
    to_world(group, 2, next_and_previous, world);
    CALL(MPI_Group_free, &group);

    long mine = world_rank, received = -1, sum = 0, last = world_rank;
    CALL(MPI_Sendrecv, &mine, 1, MPI_LONG, next_and_previous[0], tag, &received, 1, MPI_LONG,
         next_and_previous[1], tag, comm, MPI_STATUS_IGNORE);
    note_send(world[0], tag, sizeof mine);
    note_receive(world[1], tag, sizeof received);
    wrong |= received != world[1];
    CALL(MPI_Allreduce, &mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    CALL(MPI_Bcast, &last, 1, MPI_LONG, size - 1, comm);
    CALL(MPI_Barrier, comm);
    checksum += tag * (1000 * sum + 10 * last + rank);
}

/*
 * The intercommunicator between the lower and the upper half. Each rank sends
 * to its counterpart (tag 12, 8 bytes; the last of an odd number has none), all
 * learn the sum of the other half, and the first of the lower half broadcasts
 * to the upper half. MPI_Comm_remote_size, MPI_Comm_remote_group,
 * MPI_Comm_test_inter, MPI_Allreduce, MPI_Bcast, MPI_Barrier: 1 each.
 */
static void across(MPI_Comm inter, int lower)
{
    int rank, remote, is_inter, partner;
    CALL(MPI_Comm_rank, inter, &rank);
    CALL(MPI_Comm_remote_size, inter, &remote);
    CALL(MPI_Comm_test_inter, inter, &is_inter);
    MPI_Group group;
    CALL(MPI_Comm_remote_group, inter, &group);
    int counterpart = rank < remote ? rank : MPI_PROC_NULL;
    partner = MPI_PROC_NULL;
    if (counterpart != MPI_PROC_NULL)
        to_world(group, 1, &counterpart, &partner);
    CALL(MPI_Group_free, &group);

    long mine = world_rank, received = MPI_PROC_NULL, sum = 0, told = 7;
    CALL(MPI_Sendrecv, &mine, 1, MPI_LONG, counterpart, 12, &received, 1, MPI_LONG, counterpart,
         12, inter, MPI_STATUS_IGNORE);
    note_send(partner, 12, sizeof mine);
    note_receive(partner, 12, sizeof received);
    CALL(MPI_Allreduce, &mine, &sum, 1, MPI_LONG, MPI_SUM, inter);
    int root = !lower ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (lower && rank == 0)
        told = 77;
    CALL(MPI_Bcast, &told, 1, MPI_LONG, root, inter);
    CALL(MPI_Barrier, inter);

    int half = world_size / 2;
    long lower_sum = (long)half * (half - 1) / 2;
    long expected = lower ? (long)world_size * (world_size - 1) / 2 - lower_sum : lower_sum;
    wrong |= !is_inter || received != partner || sum != expected;
    wrong |= (!lower || rank == 0) && told != 77;
    checksum += 12 * (1000 * sum + rank);
}

/* Communicators from groups: even ranks, and all ranks in reverse order. */
static void from_groups(void)
{
    MPI_Group all, even, reversed;
    MPI_Comm comm;
    int every_second[1][3] = {{0, world_size - 1, 2}}, backwards[1][3] = {{world_size - 1, 0, -1}};
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &all);
    CALL(MPI_Group_range_incl, all, 1, every_second, &even);
    CALL(MPI_Group_range_incl, all, 1, backwards, &reversed);
    if (world_rank % 2 == 0) { /* collective over the group only */
        CALL(MPI_Comm_create_group, MPI_COMM_WORLD, even, 70, &comm);
        exercise(comm, 7, "even ranks");
        CALL(MPI_Comm_free, &comm);
    }
    CALL(MPI_Comm_create, MPI_COMM_WORLD, reversed, &comm);
    exercise(comm, 8, "reversed");
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Group_free, &all);
    CALL(MPI_Group_free, &even);
    CALL(MPI_Group_free, &reversed);
}

static void from_splits(void)
{
    MPI_Comm comm;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, world_rank % 3, -world_rank, &comm);
    exercise(comm, 5, "three colours");
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Comm_split, MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    exercise(comm, 6, "all but rank 0");
    if (comm != MPI_COMM_NULL)
        CALL(MPI_Comm_free, &comm);
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    exercise(comm, 11, "shared memory");
    CALL(MPI_Comm_free, &comm);
}

static void from_topologies(void)
{
    MPI_Comm grid, row;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, keep_columns[2] = {0, 1};
    CALL(MPI_Dims_create, world_size, 2, dims);
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    exercise(grid, 9, "grid");
    CALL(MPI_Cart_sub, grid, keep_columns, &row);
    exercise(row, 10, "row of the grid");
    CALL(MPI_Comm_free, &row);
    CALL(MPI_Comm_free, &grid);
}

static void from_halves(void)
{
    if (world_size < 2)
        return;
    int half = world_size / 2, lower = world_rank < half;
    MPI_Comm mine, inter, merged;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, lower, world_rank, &mine);
    CALL(MPI_Intercomm_create, mine, 0, MPI_COMM_WORLD, lower ? half : 0, 120, &inter);
    across(inter, lower);
    /* The lower half comes last: the merged ranks are not the world's. */
    CALL(MPI_Intercomm_merge, inter, lower, &merged);
    exercise(merged, 13, "merged halves");
    CALL(MPI_Comm_free, &merged);
    CALL(MPI_Comm_free, &inter);
    CALL(MPI_Comm_free, &mine);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &world_rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &world_size);
    MPI_Comm dup, idup, with_info;
    MPI_Request request;
    exercise(MPI_COMM_WORLD, 1, NULL);
    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &dup);
    exercise(dup, 2, "dup");
    /* The dup of a dup, and a communicator freed before its child is used. */
    CALL(MPI_Comm_idup, dup, &idup, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Comm_free, &dup);
    exercise(idup, 3, "idup");
    CALL(MPI_Comm_free, &idup);
    CALL(MPI_Comm_dup_with_info, MPI_COMM_WORLD, MPI_INFO_NULL, &with_info);
    exercise(with_info, 4, "dup with info");
    CALL(MPI_Comm_free, &with_info);
    from_splits();
    from_groups();
    from_topologies();
    from_halves();
    exercise(MPI_COMM_SELF, 14, NULL);

    long total = 0;
    CALL(MPI_Reduce, &checksum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "communicators: rank %d received a wrong number\n", world_rank);
    else if (world_rank == 0)
        printf("communicators ranks %d checksum %ld\n", world_size, total);
    CALL(MPI_Finalize);
    write_counts(world_rank);
    return wrong;
}
