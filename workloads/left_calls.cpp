/*
 * left_calls: calls that the program leaves before they return.
 *
 *     left_calls [ROUNDS=5] [PAUSE_MS=20]
 *
 * In each round the program leaves a call by an exception or a jump, in each of
 * the ways below, and then goes on with MPI_Barrier and MPI_Allreduce, from the
 * same depth of the stack and from deeper:
 *
 *     thrown    an error handler throws: in MPI_Send, MPI_Waitall, MPI_Startall and
 *               MPI_Bcast, each of its own shape; caught where the call was
 *               made, and above; PAUSE_MS pass before the next call
 *     operated  the operation of MPI_Reduce_local throws
 *     jumped    an error handler jumps out of MPI_Recv by longjmp
 *
 * Calls of each rank: MPI_Init, MPI_Comm_rank, MPI_Comm_size,
 * MPI_Comm_create_errhandler, MPI_Errhandler_free, MPI_Op_create, MPI_Op_free,
 * MPI_Reduce (8 bytes), MPI_Finalize: 1 each; MPI_Comm_set_errhandler 2; and in
 * each round
 *     MPI_Send 2, MPI_Waitall, MPI_Startall, MPI_Bcast, MPI_Reduce_local, MPI_Recv
 *     1 each: all of them are left;  MPI_Barrier 7, MPI_Allreduce 7 (4 bytes).
 */
#include "counted_calls.h"

#include <csetjmp>
#include <stdexcept>
#include <unistd.h>

static bool jumps;
static jmp_buf way_out;
static int pause_ms;
static long caught, done;

static void on_error(MPI_Comm *, int *, ...)
{
    if (jumps)
        longjmp(way_out, 1);
    throw std::runtime_error("an error of MPI");
}

static void operate(void *, void *, int *, MPI_Datatype *)
{
    throw std::domain_error("no such operation");
}

/* Deeper on the stack than whoever calls it. */
static __attribute__((noinline)) void sum_deeper(int depth)
{
    volatile char room[512];
    room[depth] = 1;
    if (depth > 0) {
        sum_deeper(depth - 1);
    } else {
        int one = 1, sum = 0;
        CALL(MPI_Allreduce, &one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        done += sum;
    }
    done += room[depth] - 1;
}

static __attribute__((noinline)) void go_on()
{
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    sum_deeper(3);
}

static __attribute__((noinline)) void send_to_nobody(int size)
{
    int word = 0;
    CALL(MPI_Send, &word, 1, MPI_INT, size + 99, 0, MPI_COMM_WORLD);
}

/* Makes a call that throws and catches it here, then computes for a while. */
template <typename Leaves> static void thrown(Leaves leaves)
{
    try {
        leaves();
    } catch (const std::exception &) {
        caught++;
    }
    usleep(1000 * pause_ms);
    go_on();
}

static __attribute__((noinline)) void jumped()
{
    jumps = true;
    if (setjmp(way_out) == 0) {
        int word;
        CALL(MPI_Recv, &word, 1, MPI_INT, 0, -99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        caught++;
    }
    jumps = false;
    /* From the same depth: a call from deeper looks like one of MPI's own. */
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    sum_deeper(3);
}

int main(int argc, char **argv)
{
    int rank, size;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    pause_ms = argc > 2 ? atoi(argv[2]) : 20;
    MPI_Errhandler handler;
    MPI_Op op;
    MPI_Request none[1] = {MPI_REQUEST_NULL};
    CALL(MPI_Comm_create_errhandler, on_error, &handler);
    /* Errors of calls without a communicator are raised on one or the other. */
    CALL(MPI_Comm_set_errhandler, MPI_COMM_WORLD, handler);
    CALL(MPI_Comm_set_errhandler, MPI_COMM_SELF, handler);
    CALL(MPI_Op_create, operate, 1, &op);

    for (int round = 0; round < rounds; round++) {
        thrown([&] { send_to_nobody(size); });
        thrown([&] {
            int word = 0;
            CALL(MPI_Send, &word, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        });
        thrown([&] { CALL(MPI_Waitall, -1, none, MPI_STATUSES_IGNORE); });
        thrown([&] { CALL(MPI_Startall, -1, none); });
        thrown([&] {
            int word = 0;
            CALL(MPI_Bcast, &word, 1, MPI_INT, size + 99, MPI_COMM_WORLD);
        });
        thrown([&] {
            int in = 1, sum = 2;
            CALL(MPI_Reduce_local, &in, &sum, 1, MPI_INT, op);
        });
        jumped();
    }

    CALL(MPI_Op_free, &op);
    CALL(MPI_Errhandler_free, &handler);
    long mine[1] = {caught * 1000 + done / size}, all[1] = {0};
    CALL(MPI_Reduce, mine, all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    bool wrong = caught != 7L * rounds || done != 7L * rounds * size;
    if (rank == 0)
        printf("left_calls ranks %d rounds %d sum %ld %s\n", size, rounds, all[0], wrong ? "wrong" : "ok");
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
