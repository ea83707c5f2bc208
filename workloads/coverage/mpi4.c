/*
 * What MPI 4 adds: large counts, partitioned and combined non-blocking
 * communication, sessions, and some infos. Its persistent collectives are in
 * collectives.c. Nothing with an MPI library of version 3.
 */
#include "coverage.h"

#if MPI_VERSION >= 4

static void large_counts(void)
{
    const MPI_Count one = 1;
    MPI_Count counts[1] = {1}, bytes, n;
    MPI_Aint places[1] = {0};
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype type;
    int number = rank, in = -1, sum = -1;
    CALL(MPI_Irecv_c, &in, one, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
    CALL(MPI_Send_c, &number, one, MPI_INT, right, 1, MPI_COMM_WORLD);
    CALL(MPI_Wait, &request, &status);
    CALL(MPI_Get_count_c, &status, MPI_INT, &n);
    CHECK(in == left && n == 1);
    CALL(MPI_Isend_c, &number, one, MPI_INT, right, 2, MPI_COMM_WORLD, &request);
    CALL(MPI_Recv_c, &in, one, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Sendrecv_c, &number, one, MPI_INT, right, 3, &in, one, MPI_INT, left, 3,
         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == left);
    CALL(MPI_Bcast_c, &in, one, MPI_INT, 0, MPI_COMM_WORLD);
    CALL(MPI_Allreduce_c, &number, &sum, one, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    CALL(MPI_Iallreduce_c, &number, &sum, one, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(sum == size - 1);
    CALL(MPI_Allgatherv_c, &number, one, MPI_INT, &in, counts, places, MPI_INT, MPI_COMM_SELF);
    CHECK(in == rank);
    in = -1;
    CALL(MPI_Alltoallv_c, &number, counts, places, MPI_INT, &in, counts, places, MPI_INT,
         MPI_COMM_SELF);
    CHECK(in == rank);
    CALL(MPI_Type_contiguous_c, (MPI_Count)1 << 33, MPI_INT, &type);
    CALL(MPI_Type_size_c, type, &bytes);
    CHECK(bytes == (MPI_Count)1 << 35);
    CALL(MPI_Type_free, &type);
}

static void partitioned(void)
{
    enum { PARTS = 4 };
    int out[PARTS], in[PARTS] = {0}, list[1] = {0}, flag = 0;
    MPI_Request send, receive;
    for (int i = 0; i < PARTS; i++)
        out[i] = 10 * rank + i;
    CALL(MPI_Psend_init, out, PARTS, 1, MPI_INT, right, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    CALL(MPI_Precv_init, in, PARTS, 1, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    CALL(MPI_Start, &receive);
    CALL(MPI_Start, &send);
    CALL(MPI_Pready, 3, send);
    CALL(MPI_Pready_range, 1, 2, send);
    CALL(MPI_Pready_list, 1, list, send);
    while (!flag)
        CALL(MPI_Parrived, receive, 0, &flag);
    CALL(MPI_Wait, &receive, MPI_STATUS_IGNORE);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTS; i++)
        CHECK(in[i] == 10 * left + i);
    CALL(MPI_Request_free, &send);
    CALL(MPI_Request_free, &receive);
}

static void combined(void)
{
    MPI_Request request;
    int in = -1, both = rank;
    CALL(MPI_Isendrecv, &rank, 1, MPI_INT, right, 5, &in, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
         &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(in == left);
    CALL(MPI_Isendrecv_replace, &both, 1, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(both == left);
}

static void sessions_and_infos(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm comm;
    MPI_Request request;
    int n, sets, length = MPI_MAX_INFO_VAL, flag;
    char value[MPI_MAX_INFO_VAL];
    CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    CALL(MPI_Session_get_num_psets, session, MPI_INFO_NULL, &sets);
    CHECK(sets >= 2);
    CALL(MPI_Group_from_session_pset, session, "mpi://WORLD", &group);
    CALL(MPI_Group_size, group, &n);
    CHECK(n == size);
    CALL(MPI_Comm_create_from_group, group, "workload", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
         &comm);
    CALL(MPI_Comm_size, comm, &n);
    CHECK(n == size);
    CALL(MPI_Barrier, comm);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Session_finalize, &session);

    CALL(MPI_Info_create, &info);
    CALL(MPI_Info_set, info, "kind", "workload");
    CALL(MPI_Info_get_string, info, "kind", &length, value, &flag);
    CHECK(flag && strcmp(value, "workload") == 0);
    CALL(MPI_Comm_idup_with_info, MPI_COMM_WORLD, info, &comm, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Info_free, &info);
}

void cover_mpi4(void)
{
    large_counts();
    partitioned();
    combined();
    sessions_and_infos();
}

#else

void cover_mpi4(void)
{
}

#endif
