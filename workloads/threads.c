/*
 * threads: several threads of a rank communicate at once.
 *
 *     threads [THREADS=4] [MESSAGES=50] [BYTES=64]
 *
 * Ranks 2k and 2k + 1 form a pair (an odd last rank only starts and ends).
 * Thread t of the one rank plays ping-pong with thread t of the other, with
 * tag 100 + t, so that the messages of two threads never mix.
 * Exits with 77 where the MPI library does not give MPI_THREAD_MULTIPLE.
 *
 * Calls of each rank:
 *     MPI_Init_thread, MPI_Query_thread, MPI_Comm_rank, MPI_Comm_size,
 *     MPI_Reduce (8 bytes), MPI_Finalize: 1 each; and on a rank with a partner
 *     MPI_Is_thread_main THREADS, MPI_Send and MPI_Recv THREADS x MESSAGES each
 *     (partner, tags 100 .. 100 + THREADS - 1, BYTES bytes)
 */
#include "counted_calls.h"

#include <stdint.h>

enum { FIRST_TAG = 100, SKIPPED = 77 };

struct work {
    pthread_t thread;
    int number, rank, partner, messages, bytes;
    uint64_t sum;
    int wrong;
};

/* What message m of thread t consists of, when `rank` has sent it. */
static unsigned char content(int rank, int thread, int message)
{
    return (unsigned char)(rank + 31 * thread + 7 * message);
}

static void *play(void *argument)
{
    struct work *w = argument;
    int tag = FIRST_TAG + w->number, is_main;
    unsigned char *out = malloc(w->bytes + 1), *in = malloc(w->bytes + 1);
    CALL(MPI_Is_thread_main, &is_main);
    w->wrong |= is_main;
    for (int m = 0; m < w->messages; m++) {
        memset(out, content(w->rank, w->number, m), w->bytes);
        memset(in, 0, w->bytes);
        for (int half = 0; half < 2; half++) {
            if ((w->rank + half) % 2 == 0) {
                CALL(MPI_Send, out, w->bytes, MPI_BYTE, w->partner, tag, MPI_COMM_WORLD);
                note_send(w->partner, tag, w->bytes);
            } else {
                CALL(MPI_Recv, in, w->bytes, MPI_BYTE, w->partner, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
                note_receive(w->partner, tag, w->bytes);
            }
        }
        for (int i = 0; i < w->bytes; i++) {
            w->wrong |= in[i] != content(w->partner, w->number, m);
            w->sum += in[i];
        }
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, size, provided, asked;
    CALL(MPI_Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CALL(MPI_Query_thread, &asked);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            printf("threads: skipped, the MPI library gives thread level %d only\n", provided);
        CALL(MPI_Finalize);
        write_counts(rank);
        return SKIPPED;
    }
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    int messages = argc > 2 ? atoi(argv[2]) : 50;
    int bytes = argc > 3 ? atoi(argv[3]) : 64;
    int partner = rank % 2 ? rank - 1 : rank + 1;

    struct work *work = calloc(threads, sizeof *work);
    int wrong = asked != provided;
    uint64_t sum = 0, total = 0;
    for (int t = 0; partner < size && t < threads; t++) {
        work[t] = (struct work){
            .number = t, .rank = rank, .partner = partner, .messages = messages, .bytes = bytes};
        if (pthread_create(&work[t].thread, NULL, play, &work[t]) != 0) {
            fprintf(stderr, "threads: cannot start a thread\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int t = 0; partner < size && t < threads; t++) {
        pthread_join(work[t].thread, NULL);
        wrong |= work[t].wrong;
        sum += work[t].sum;
    }
    CALL(MPI_Reduce, &sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "threads: rank %d received wrong bytes\n", rank);
    else if (rank == 0)
        printf("threads ranks %d threads %d messages %d bytes %d checksum %llu\n", size, threads,
               messages, bytes, (unsigned long long)total);
    free(work);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
