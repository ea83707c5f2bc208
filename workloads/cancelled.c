/*
 * cancelled: threads that are cancelled, or end, while they call MPI.
 *
 *     cancelled [THREADS=40] [CALLS=3000]
 *
 * MPI functions need not be cancellation points, and those called here are none
 * in any MPI library. Each thread calls MPI under a lock, with a cancellation
 * pending since before its first call, and reaches its first cancellation point
 * when it has given the lock back. The others are then done without. Threads
 * take turns: MPI_THREAD_SERIALIZED is enough.
 *
 *     pending   THREADS threads, each with CALLS calls under the lock
 *     ended     THREADS threads that end by pthread_exit inside a call, in the
 *               operation of MPI_Reduce_local
 *     returned  THREADS threads that return with a cancellation pending
 *
 * Calls of each rank: MPI_Init_thread, MPI_Comm_rank, MPI_Op_create,
 * MPI_Op_free, MPI_Barrier, MPI_Finalize: 1 each
 *     MPI_Comm_size THREADS x CALLS, MPI_Reduce_local THREADS (all are left),
 *     MPI_Initialized 2 x THREADS
 */
#include "counted_calls.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static long calls, made, ended;
static MPI_Op op;

static void operate(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
    pthread_exit(&ended);
}

static void *pending(void *nothing)
{
    int size;
    pthread_barrier_wait(&start);
    /* The cancellation comes between the two: no barrier is a cancellation point. */
    pthread_barrier_wait(&start);
    pthread_mutex_lock(&turn);
    for (long i = 0; i < calls; i++) {
        CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
        made++;
    }
    pthread_mutex_unlock(&turn);
    pthread_testcancel();
    return nothing;
}

static void *ending(void *nothing)
{
    int yes, in = 1, sum = 2;
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&start);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    CALL(MPI_Initialized, &yes);
    CALL(MPI_Reduce_local, &in, &sum, 1, MPI_INT, op);
    return nothing;
}

static void *returning(void *nothing)
{
    int yes;
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&start);
    CALL(MPI_Initialized, &yes);
    made += yes;
    return nothing;
}

/* Runs a thread that is cancelled before its first call; gives what it ended with. */
static void *run(void *(*body)(void *))
{
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        abort();
    pthread_barrier_wait(&start);
    pthread_cancel(thread);
    pthread_barrier_wait(&start);
    pthread_join(thread, &result);
    return result;
}

int main(int argc, char **argv)
{
    int rank, provided;
    CALL(MPI_Init_thread, &argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Op_create, operate, 1, &op);
    int threads = argc > 1 ? atoi(argv[1]) : 40;
    calls = argc > 2 ? atol(argv[2]) : 3000;
    pthread_barrier_init(&start, NULL, 2);
    long cancelled = 0, left = 0, returned = 0, held = 0;
    for (int i = 0; i < threads; i++) {
        cancelled += run(pending) == PTHREAD_CANCELED;
        if (pthread_mutex_trylock(&turn) != 0) {
            held++;
            break;
        }
        pthread_mutex_unlock(&turn);
        left += run(ending) == &ended;
        returned += run(returning) == NULL;
    }
    printf("cancelled rank %d: %ld cancelled, %ld left, %ld returned, %ld calls, lock %s\n", rank, cancelled,
           left, returned, made, held ? "held by a thread that is gone" : "free");
    fflush(stdout);
    int wrong = held || cancelled != threads || left != threads || returned != threads ||
                made != threads * (calls + 1);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Op_free, &op);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
