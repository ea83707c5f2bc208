/*
 * wildcard: rank 0 receives from anyone, with any tag, by every means that MPI
 * has; half of them ignore the status, so that only the message itself tells
 * where it comes from.
 *
 *     wildcard [MESSAGES=2]
 *
 * The program goes through the means in the table below, each first with the
 * status and then without; each is a stage. In stage s each rank but 0 sends
 * MESSAGES messages to rank 0: message i of rank r has tag 100 x s + i and
 * r + i + 3 ints, the first three of which are r, its tag and its number of
 * ints. Rank 0 receives them from MPI_ANY_SOURCE with MPI_ANY_TAG.
 * A barrier ends each stage, lest a receive take a message of the next one.
 *
 * Calls of each rank (P = ranks, S = 27 stages, M = MESSAGES):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each; MPI_Barrier S
 *     ranks 1 and up: MPI_Send S x M (rank 0, tag and bytes as above)
 *     rank 0, with R = M x (P - 1) messages per stage:
 *     MPI_Recv 6 R, MPI_Irecv 16 R + 1, MPI_Wait 4 R + 1, MPI_Waitall 2,
 *     MPI_Waitany 2 R, MPI_Probe 2 R, MPI_Mprobe 2 R, MPI_Mrecv 3 R,
 *     MPI_Imrecv 2 R, MPI_Cancel 1, MPI_Test_cancelled 1, MPI_Get_count 14 R
 *     (one for each message whose status was kept);
 *     MPI_Waitsome, MPI_Test, MPI_Testany, MPI_Testsome, MPI_Testall,
 *     MPI_Iprobe, MPI_Improbe: as often as the messages are slow to come
 */
#include "counted_calls.h"

#include <sched.h>

enum { EXTRA = 3, LARGEST = 4096 };

typedef int payload[LARGEST];

static MPI_Comm world;
static int messages_per_stage, current_stage, wrong;
static long received_messages, checksum;
static payload *in;
static MPI_Request *request;
static MPI_Status *status;
static int *done;

/* Takes note of the message in a buffer; `s` is NULL where it was ignored. */
static void arrived(const int *message, const MPI_Status *s)
{
    int source = message[0], tag = message[1], ints = message[2];
    if (s) {
        int count;
        CALL(MPI_Get_count, s, MPI_INT, &count);
        wrong |= s->MPI_SOURCE != source || s->MPI_TAG != tag || count != ints;
    }
    wrong |= tag / 100 != current_stage || ints != source + tag % 100 + EXTRA;
    note_receive(source, tag, ints * (long)sizeof(int));
    received_messages++;
    checksum += (long)source * tag + ints;
}

static void wait_a_moment(int found)
{
    if (!found)
        sched_yield(); /* a sender may need this core */
}

static void receive(int *buffer, MPI_Status *s)
{
    CALL(MPI_Recv, buffer, LARGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, s);
}

static void start_receives(void)
{
    for (int i = 0; i < messages_per_stage; i++)
        CALL(MPI_Irecv, in[i], LARGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request[i]);
}

/* Each means comes with and without a status: `keep` says which. */
static void by_recv(int keep)
{
    for (int i = 0; i < messages_per_stage; i++) {
        receive(in[i], keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void by_wait(int keep)
{
    start_receives();
    for (int i = 0; i < messages_per_stage; i++) {
        CALL(MPI_Wait, &request[i], keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void by_test(int keep)
{
    start_receives();
    for (int i = 0; i < messages_per_stage; i++) {
        for (int flag = 0; !flag; wait_a_moment(flag))
            CALL(MPI_Test, &request[i], &flag, keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void by_waitall(int keep)
{
    start_receives();
    CALL(MPI_Waitall, messages_per_stage, request, keep ? status : MPI_STATUSES_IGNORE);
    for (int i = 0; i < messages_per_stage; i++)
        arrived(in[i], keep ? &status[i] : NULL);
}

static void by_testall(int keep)
{
    start_receives();
    for (int flag = 0; !flag; wait_a_moment(flag))
        CALL(MPI_Testall, messages_per_stage, request, &flag, keep ? status : MPI_STATUSES_IGNORE);
    for (int i = 0; i < messages_per_stage; i++)
        arrived(in[i], keep ? &status[i] : NULL);
}

static void by_waitany(int keep)
{
    start_receives();
    for (int n = 0, i; n < messages_per_stage; n++) {
        CALL(MPI_Waitany, messages_per_stage, request, &i, keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void by_testany(int keep)
{
    start_receives();
    for (int n = 0; n < messages_per_stage; n++) {
        int i = MPI_UNDEFINED;
        for (int flag = 0; !flag; wait_a_moment(flag))
            CALL(MPI_Testany, messages_per_stage, request, &i, &flag,
                 keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void by_waitsome(int keep)
{
    start_receives();
    for (int n = 0, some; n < messages_per_stage; n += some) {
        CALL(MPI_Waitsome, messages_per_stage, request, &some, done,
             keep ? status : MPI_STATUSES_IGNORE);
        for (int k = 0; k < some; k++)
            arrived(in[done[k]], keep ? &status[k] : NULL);
    }
}

static void by_testsome(int keep)
{
    start_receives();
    for (int n = 0, some; n < messages_per_stage; n += some) {
        CALL(MPI_Testsome, messages_per_stage, request, &some, done,
             keep ? status : MPI_STATUSES_IGNORE);
        wait_a_moment(some);
        for (int k = 0; k < some; k++)
            arrived(in[done[k]], keep ? &status[k] : NULL);
    }
}

static void by_probe(int keep)
{
    for (int i = 0; i < messages_per_stage; i++) {
        CALL(MPI_Probe, MPI_ANY_SOURCE, MPI_ANY_TAG, world, keep ? status : MPI_STATUS_IGNORE);
        if (keep) { /* receive just what was found, and ignore the status then */
            CALL(MPI_Recv, in[i], LARGEST, MPI_INT, status->MPI_SOURCE, status->MPI_TAG, world,
                 MPI_STATUS_IGNORE);
            arrived(in[i], status);
        } else {
            receive(in[i], MPI_STATUS_IGNORE);
            arrived(in[i], NULL);
        }
    }
}

static void by_iprobe(int keep)
{
    for (int i = 0; i < messages_per_stage; i++) {
        for (int flag = 0; !flag; wait_a_moment(flag))
            CALL(MPI_Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag,
                 keep ? status : MPI_STATUS_IGNORE);
        receive(in[i], keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void by_mprobe(int keep)
{
    for (int i = 0; i < messages_per_stage; i++) {
        MPI_Message message;
        CALL(MPI_Mprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &message,
             keep ? status : MPI_STATUS_IGNORE);
        CALL(MPI_Mrecv, in[i], LARGEST, MPI_INT, &message, keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

static void improbe(MPI_Message *message, MPI_Status *s)
{
    for (int flag = 0; !flag; wait_a_moment(flag))
        CALL(MPI_Improbe, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, message, s);
}

static void by_improbe(int keep)
{
    for (int i = 0; i < messages_per_stage; i++) {
        MPI_Message message;
        improbe(&message, keep ? status : MPI_STATUS_IGNORE);
        CALL(MPI_Imrecv, in[i], LARGEST, MPI_INT, &message, &request[i]);
        CALL(MPI_Wait, &request[i], keep ? status : MPI_STATUS_IGNORE);
        arrived(in[i], keep ? status : NULL);
    }
}

/* The probe keeps the status, the receive ignores it; and a receive that
 * never matches is cancelled, which a tracer must not take for a message. */
static void by_improbe_and_cancel(int keep)
{
    (void)keep;
    int buffer, cancelled;
    MPI_Request never;
    CALL(MPI_Irecv, &buffer, 1, MPI_INT, MPI_ANY_SOURCE, 9999, world, &never);
    for (int i = 0; i < messages_per_stage; i++) {
        MPI_Message message;
        improbe(&message, status);
        CALL(MPI_Mrecv, in[i], LARGEST, MPI_INT, &message, MPI_STATUS_IGNORE);
        arrived(in[i], status);
    }
    CALL(MPI_Cancel, &never);
    CALL(MPI_Wait, &never, status);
    CALL(MPI_Test_cancelled, status, &cancelled);
    wrong |= !cancelled;
}

static void (*const means[])(int keep) = {
    by_recv,    by_wait,     by_test,  by_waitall, by_testall, by_waitany, by_testany,
    by_waitsome, by_testsome, by_probe, by_iprobe,  by_mprobe,  by_improbe, by_improbe_and_cancel,
};

int main(int argc, char **argv)
{
    enum { STAGES = 2 * (int)(sizeof means / sizeof means[0]) - 1 };
    int rank, size;
    CALL(MPI_Init, &argc, &argv);
    world = MPI_COMM_WORLD;
    CALL(MPI_Comm_rank, world, &rank);
    CALL(MPI_Comm_size, world, &size);
    int messages = argc > 1 ? atoi(argv[1]) : 2;
    if (messages < 1 || messages > 99 || size + messages + EXTRA > LARGEST) {
        fprintf(stderr, "wildcard: needs 1 to 99 messages\n");
        CALL(MPI_Finalize);
        return 2;
    }
    messages_per_stage = messages * (size - 1);
    in = malloc((messages_per_stage + 1) * sizeof *in);
    request = malloc((messages_per_stage + 1) * sizeof *request);
    status = malloc((messages_per_stage + 1) * sizeof *status);
    done = malloc((messages_per_stage + 1) * sizeof *done);

    for (current_stage = 0; current_stage < STAGES; current_stage++) {
        if (rank == 0)
            means[current_stage / 2](current_stage % 2 == 0);
        for (int i = 0; rank > 0 && i < messages; i++) {
            payload out = {rank, 100 * current_stage + i, rank + i + EXTRA};
            CALL(MPI_Send, out, out[2], MPI_INT, 0, out[1], world);
            note_send(0, out[1], out[2] * (long)sizeof(int));
        }
        CALL(MPI_Barrier, world);
    }
    wrong |= rank == 0 && received_messages != (long)STAGES * messages_per_stage;
    if (wrong)
        fprintf(stderr, "wildcard: rank %d received a wrong message\n", rank);
    else if (rank == 0)
        printf("wildcard ranks %d stages %d messages %ld checksum %ld\n", size, STAGES,
               received_messages, checksum);
    free(in), free(request), free(status), free(done);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
