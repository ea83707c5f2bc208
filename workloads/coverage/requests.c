/* All ways to wait and to test, cancelling, and generalised requests. */
#include "coverage.h"

#include <sched.h>

enum { N = 3 };

static int out[N], in[N];
static MPI_Request request[2 * N];

static void start(int tag)
{
    for (int i = 0; i < N; i++) {
        out[i] = 100 * rank + tag + i;
        in[i] = -1;
        CALL(MPI_Irecv, &in[i], 1, MPI_INT, left, tag + i, MPI_COMM_WORLD, &request[i]);
        CALL(MPI_Isend, &out[i], 1, MPI_INT, right, tag + i, MPI_COMM_WORLD, &request[N + i]);
    }
}

static void check_all(int tag)
{
    for (int i = 0; i < N; i++)
        CHECK(in[i] == 100 * left + tag + i);
    for (int i = 0; i < 2 * N; i++)
        CHECK(request[i] == MPI_REQUEST_NULL);
}

static void waiting(void)
{
    MPI_Status status[2 * N];
    int some, done[2 * N], index;
    start(10);
    CALL(MPI_Waitall, 2 * N, request, status);
    check_all(10);
    start(20);
    for (int i = 0; i < 2 * N; i++)
        CALL(MPI_Waitany, 2 * N, request, &index, status);
    check_all(20);
    CALL(MPI_Waitany, 2 * N, request, &index, MPI_STATUS_IGNORE); /* nothing left */
    CHECK(index == MPI_UNDEFINED);
    start(30);
    for (int n = 0; n < 2 * N; n += some)
        CALL(MPI_Waitsome, 2 * N, request, &some, done, status);
    check_all(30);
}

static void testing(void)
{
    MPI_Status status[2 * N];
    int some, done[2 * N], index, flag;
    start(40);
    for (int i = 0; i < 2 * N; i++)
        for (flag = 0; !flag; sched_yield())
            CALL(MPI_Test, &request[i], &flag, status);
    check_all(40);
    start(50);
    for (flag = 0; !flag; sched_yield())
        CALL(MPI_Testall, 2 * N, request, &flag, MPI_STATUSES_IGNORE);
    check_all(50);
    start(60);
    for (int i = 0; i < 2 * N; i += flag) {
        CALL(MPI_Testany, 2 * N, request, &index, &flag, status);
        sched_yield();
    }
    check_all(60);
    start(70);
    for (int n = 0; n < 2 * N; n += some) {
        CALL(MPI_Testsome, 2 * N, request, &some, done, status);
        sched_yield();
    }
    check_all(70);
    start(80);
    for (flag = 0; !flag; sched_yield())
        CALL(MPI_Request_get_status, request[0], &flag, status);
    CHECK(request[0] != MPI_REQUEST_NULL); /* asking does not free it */
    CALL(MPI_Waitall, 2 * N, request, MPI_STATUSES_IGNORE);
    check_all(80);
}

static void cancelling(void)
{
    MPI_Status status;
    int flag, number;
    CALL(MPI_Irecv, &number, 1, MPI_INT, left, 90, MPI_COMM_WORLD, &request[0]);
    CALL(MPI_Cancel, &request[0]);
    CALL(MPI_Wait, &request[0], &status);
    CALL(MPI_Test_cancelled, &status, &flag);
    CHECK(flag);
    /* A send that nobody waits for. */
    CALL(MPI_Isend, &rank, 1, MPI_INT, right, 91, MPI_COMM_WORLD, &request[0]);
    CALL(MPI_Request_free, &request[0]);
    CALL(MPI_Recv, &number, 1, MPI_INT, left, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(number == left);
}

static int freed;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    CALL(MPI_Status_set_elements, status, MPI_INT, 7);
    CALL(MPI_Status_set_elements_x, status, MPI_INT, 7);
    CALL(MPI_Status_set_cancelled, status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalised(void)
{
    MPI_Status status;
    int flag, count;
    CALL(MPI_Grequest_start, query, release, cancel, NULL, &request[0]);
    CALL(MPI_Test, &request[0], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    CALL(MPI_Grequest_complete, request[0]);
    CALL(MPI_Wait, &request[0], &status);
    CALL(MPI_Get_count, &status, MPI_INT, &count);
    CHECK(count == 7 && freed == 1);
}

void cover_requests(void)
{
    waiting();
    testing();
    cancelling();
    generalised();
}
