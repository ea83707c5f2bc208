/* All send modes, blocking and not, persistent requests, and probes. */
#include "coverage.h"

enum { N = 5 };

static int out[N], in[N];

static void fill(int tag)
{
    for (int i = 0; i < N; i++) {
        out[i] = 1000 * rank + 10 * tag + i;
        in[i] = -1;
    }
}

static void check_arrival(int tag)
{
    for (int i = 0; i < N; i++)
        CHECK(in[i] == 1000 * left + 10 * tag + i);
}

static MPI_Request post(int tag)
{
    MPI_Request request;
    fill(tag);
    CALL(MPI_Irecv, in, N, MPI_INT, left, tag, MPI_COMM_WORLD, &request);
    return request;
}

static void arrive(MPI_Request *request, int tag)
{
    MPI_Status status;
    int count;
    CALL(MPI_Wait, request, &status);
    CALL(MPI_Get_count, &status, MPI_INT, &count);
    CHECK(count == N && status.MPI_SOURCE == left && status.MPI_TAG == tag);
    check_arrival(tag);
}

static void blocking_modes(void)
{
    MPI_Request request = post(1);
    CALL(MPI_Send, out, N, MPI_INT, right, 1, MPI_COMM_WORLD);
    arrive(&request, 1);
    request = post(2);
    CALL(MPI_Bsend, out, N, MPI_INT, right, 2, MPI_COMM_WORLD);
    arrive(&request, 2);
    request = post(3);
    CALL(MPI_Ssend, out, N, MPI_INT, right, 3, MPI_COMM_WORLD);
    arrive(&request, 3);
    request = post(4);
    CALL(MPI_Barrier, MPI_COMM_WORLD); /* a ready send needs its receive posted */
    CALL(MPI_Rsend, out, N, MPI_INT, right, 4, MPI_COMM_WORLD);
    arrive(&request, 4);
}

static void nonblocking_modes(void)
{
    MPI_Request send, receive = post(5);
    CALL(MPI_Isend, out, N, MPI_INT, right, 5, MPI_COMM_WORLD, &send);
    arrive(&receive, 5);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
    receive = post(6);
    CALL(MPI_Ibsend, out, N, MPI_INT, right, 6, MPI_COMM_WORLD, &send);
    arrive(&receive, 6);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
    receive = post(7);
    CALL(MPI_Issend, out, N, MPI_INT, right, 7, MPI_COMM_WORLD, &send);
    arrive(&receive, 7);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
    receive = post(8);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Irsend, out, N, MPI_INT, right, 8, MPI_COMM_WORLD, &send);
    arrive(&receive, 8);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
}

static void both_ways(void)
{
    fill(9);
    CALL(MPI_Sendrecv, out, N, MPI_INT, right, 9, in, N, MPI_INT, left, 9, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    check_arrival(9);
    fill(10);
    memcpy(in, out, sizeof in);
    CALL(MPI_Sendrecv_replace, in, N, MPI_INT, right, 10, left, 10, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    check_arrival(10);
    /* A message to nobody and one without content. */
    CALL(MPI_Send, out, N, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD);
    CALL(MPI_Recv, in, N, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_arrival(10);
    CALL(MPI_Sendrecv, NULL, 0, MPI_BYTE, right, 12, NULL, 0, MPI_BYTE, left, 12, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request send[4], receive;
    CALL(MPI_Send_init, out, N, MPI_INT, right, 13, MPI_COMM_WORLD, &send[0]);
    CALL(MPI_Bsend_init, out, N, MPI_INT, right, 13, MPI_COMM_WORLD, &send[1]);
    CALL(MPI_Ssend_init, out, N, MPI_INT, right, 13, MPI_COMM_WORLD, &send[2]);
    CALL(MPI_Rsend_init, out, N, MPI_INT, right, 13, MPI_COMM_WORLD, &send[3]);
    CALL(MPI_Recv_init, in, N, MPI_INT, left, 13, MPI_COMM_WORLD, &receive);
    for (int mode = 0; mode < 4; mode++) {
        fill(13);
        CALL(MPI_Start, &receive);
        CALL(MPI_Barrier, MPI_COMM_WORLD);
        CALL(MPI_Startall, 1, &send[mode]);
        arrive(&receive, 13);
        CALL(MPI_Wait, &send[mode], MPI_STATUS_IGNORE);
        CALL(MPI_Request_free, &send[mode]);
    }
    CALL(MPI_Request_free, &receive);
}

static void probes(void)
{
    MPI_Request send, receive;
    MPI_Message message;
    MPI_Status status;
    int flag = 0, count;
    fill(14);
    CALL(MPI_Isend, out, N, MPI_INT, right, 14, MPI_COMM_WORLD, &send);
    CALL(MPI_Probe, left, 14, MPI_COMM_WORLD, &status);
    CALL(MPI_Get_count, &status, MPI_INT, &count);
    CHECK(count == N);
    while (!flag)
        CALL(MPI_Iprobe, left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CALL(MPI_Recv, in, N, MPI_INT, MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
    check_arrival(14);

    fill(15);
    CALL(MPI_Isend, out, N, MPI_INT, right, 15, MPI_COMM_WORLD, &send);
    CALL(MPI_Mprobe, MPI_ANY_SOURCE, 15, MPI_COMM_WORLD, &message, &status);
    CALL(MPI_Mrecv, in, N, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(message == MPI_MESSAGE_NULL);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
    check_arrival(15);

    fill(16);
    CALL(MPI_Isend, out, N, MPI_INT, right, 16, MPI_COMM_WORLD, &send);
    for (flag = 0; !flag;)
        CALL(MPI_Improbe, left, 16, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    CALL(MPI_Imrecv, in, N, MPI_INT, &message, &receive);
    arrive(&receive, 16);
    CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
}

void cover_point_to_point(void)
{
    enum { SPACE = 8 * (N * sizeof(int) + MPI_BSEND_OVERHEAD) };
    void *buffer = malloc(SPACE);
    int space;
    CALL(MPI_Buffer_attach, buffer, SPACE);
    blocking_modes();
    nonblocking_modes();
    both_ways();
    persistent();
    probes();
    CALL(MPI_Buffer_detach, &buffer, &space);
    CHECK(space == SPACE);
    free(buffer);
}
