/* Groups, and the communicators made from them and in other ways. */
#include "coverage.h"

void cover_groups(void)
{
    MPI_Group world, first, rest, both, none, other;
    int n, place, answer, zero = 0, range[1][3] = {{0, 0, 1}};
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
    CALL(MPI_Group_size, world, &n);
    CALL(MPI_Group_rank, world, &place);
    CHECK(n == size && place == rank);
    CALL(MPI_Group_incl, world, 1, &zero, &first);
    CALL(MPI_Group_excl, world, 1, &zero, &rest);
    CALL(MPI_Group_rank, first, &place);
    CHECK(place == (rank == 0 ? 0 : MPI_UNDEFINED));
    CALL(MPI_Group_union, first, rest, &both);
    CALL(MPI_Group_compare, both, world, &answer);
    CHECK(answer == MPI_IDENT);
    CALL(MPI_Group_intersection, first, rest, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    CALL(MPI_Group_difference, world, first, &other);
    CALL(MPI_Group_compare, other, rest, &answer);
    CHECK(answer == MPI_IDENT);
    CALL(MPI_Group_free, &other);
    CALL(MPI_Group_range_incl, world, 1, range, &other);
    CALL(MPI_Group_compare, other, first, &answer);
    CHECK(answer == MPI_IDENT);
    CALL(MPI_Group_free, &other);
    CALL(MPI_Group_range_excl, world, 1, range, &other);
    CALL(MPI_Group_size, other, &n);
    CHECK(n == size - 1);
    CALL(MPI_Group_translate_ranks, first, 1, &zero, world, &place);
    CHECK(place == 0);
    if (other != MPI_GROUP_EMPTY)
        CALL(MPI_Group_free, &other);
    if (rest != MPI_GROUP_EMPTY)
        CALL(MPI_Group_free, &rest);
    CALL(MPI_Group_free, &first);
    CALL(MPI_Group_free, &both);
    CALL(MPI_Group_free, &world);
}

static long sum_over(MPI_Comm comm)
{
    long mine = rank + 1, sum = 0;
    CALL(MPI_Allreduce, &mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    return sum;
}

static void between_halves(void)
{
    int half = size / 2, lower = rank < half, flag, n;
    MPI_Comm mine, inter, merged;
    MPI_Group group;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, lower, rank, &mine);
    CALL(MPI_Intercomm_create, mine, 0, MPI_COMM_WORLD, lower ? half : 0, 55, &inter);
    CALL(MPI_Comm_test_inter, inter, &flag);
    CHECK(flag);
    CALL(MPI_Comm_remote_size, inter, &n);
    CHECK(n == (lower ? size - half : half));
    CALL(MPI_Comm_remote_group, inter, &group);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Intercomm_merge, inter, !lower, &merged);
    CHECK(sum_over(merged) == (long)size * (size + 1) / 2);
    CALL(MPI_Comm_free, &merged);
    CALL(MPI_Comm_free, &inter);
    CALL(MPI_Comm_free, &mine);
}

void cover_communicators(void)
{
    MPI_Comm comm;
    MPI_Group world, even;
    MPI_Request request;
    int answer, flag, length, range[1][3] = {{0, size - 1, 2}};
    long all = (long)size * (size + 1) / 2;
    char name[MPI_MAX_OBJECT_NAME];

    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &comm);
    CALL(MPI_Comm_compare, comm, MPI_COMM_WORLD, &answer);
    CHECK(answer == MPI_CONGRUENT && sum_over(comm) == all);
    CALL(MPI_Comm_set_name, comm, "twin");
    CALL(MPI_Comm_get_name, comm, name, &length);
    CHECK(strcmp(name, "twin") == 0 && length == 4);
    CALL(MPI_Comm_test_inter, comm, &flag);
    CHECK(!flag);
    CALL(MPI_Comm_disconnect, &comm);
    CALL(MPI_Comm_dup_with_info, MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    CHECK(sum_over(comm) == all);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Comm_idup, MPI_COMM_WORLD, &comm, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(sum_over(comm) == all);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Comm_split, MPI_COMM_WORLD, rank, 0, &comm);
    CHECK(sum_over(comm) == rank + 1);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    CHECK(sum_over(comm) > 0);
    CALL(MPI_Comm_free, &comm);

    CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
    CALL(MPI_Group_range_incl, world, 1, range, &even);
    CALL(MPI_Comm_create, MPI_COMM_WORLD, even, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (comm != MPI_COMM_NULL)
        CALL(MPI_Comm_free, &comm);
    if (rank % 2 == 0) {
        CALL(MPI_Comm_create_group, MPI_COMM_WORLD, even, 56, &comm);
        CALL(MPI_Comm_free, &comm);
    }
    CALL(MPI_Group_free, &even);
    CALL(MPI_Group_free, &world);
    if (size > 1)
        between_halves();
}
