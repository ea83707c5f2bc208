/* cancel WAY COUNT: threads that are cancelled while they call MPI.
 *
 * WAY  pending  COUNT threads that are cancelled before their first call and make it under a lock: the calls are no
 *               cancellation points, so each gives the lock back
 *      random   COUNT threads, four at a time, cancelled at any moment
 *      async    the same with cancellation of the asynchronous type, so at any instruction; a call under way then is counted
 *               apart, as it is recorded or not
 *      files    COUNT threads, cancelled at any moment while they read and write files, whose functions are cancellation
 *               points
 *      openmp   COUNT threads, cancelled at any moment between parallel regions */
#define _GNU_SOURCE
#include "count.h"
#include <mpi.h>
#include <pthread.h>
#include <string.h>

enum { AT_A_TIME = 4, ROUNDS = 1000000, FEW = 30 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int begun, cleaned, wrong;
static int rank, asynchronous;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void *pending(void *unused)
{
    while (!begun)
        ;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FEW; i++) {
        int mine = -1;
        DID(MPI_Comm_rank(MPI_COMM_WORLD, &mine));
        wrong += mine != rank;
    }
    pthread_mutex_unlock(&lock);
    cleaned++;
    return unused;
}

static void *random_moment(void *unused)
{
    int before;
    pthread_cleanup_push(clean, NULL);
    begun++;
    if (asynchronous) {
        /* At most one call is under way, and it may have been recorded when it is left. */
        slot->nested += 2;
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    }
    for (int i = 0; i < ROUNDS; i++) {
        int number;
        DID(MPI_Comm_rank(MPI_COMM_WORLD, &number));
        DID(MPI_Initialized(&number));
        DID(MPI_Comm_size(MPI_COMM_WORLD, &number));
        DID(MPI_Wtime());
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return unused;
}

static void *files(void *unused)
{
    char name[64];
    int mine;
    pthread_cleanup_push(clean, NULL);
    DID(MPI_Comm_rank(MPI_COMM_WORLD, &mine));
    begun++;
    snprintf(name, sizeof name, "cancel.%d", (int)getpid());
    for (int i = 0; i < ROUNDS; i++) {
        int file = open(name, O_CREAT | O_RDWR, 0600);
        if (file < 0) abort();
        if (write(file, "abcd", 4) != 4) abort();
        fsync(file);
        close(file);
        DID(MPI_Comm_size(MPI_COMM_WORLD, &mine));
    }
    pthread_cleanup_pop(1);
    return unused;
}

static void *regions(void *unused)
{
    long sum = 0;
    pthread_cleanup_push(clean, NULL);
    begun++;
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum++;
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return unused;
}

static void cancel_all(void *(*body)(void *), int count, int at_a_time)
{
    unsigned seed = 7 + (unsigned)rank;
    for (int done = 0; done < count; done += at_a_time) {
        pthread_t thread[AT_A_TIME];
        begun = 0;
        for (int i = 0; i < at_a_time; i++)
            if (pthread_create(&thread[i], NULL, body, NULL)) abort();
        if (body == pending) {
            pthread_cancel(thread[0]);
            begun = 1;
        } else {
            while (!begun)
                usleep(10);
            usleep((unsigned)rand_r(&seed) % 300);
            for (int i = 0; i < at_a_time; i++)
                pthread_cancel(thread[i]);
        }
        for (int i = 0; i < at_a_time; i++)
            pthread_join(thread[i], NULL);
        if (pthread_mutex_trylock(&lock)) {
            printf("rank %d: the lock is held by a thread that is gone\n", rank);
            fflush(stdout);
            _exit(3);
        }
        pthread_mutex_unlock(&lock);
    }
}

int main(int argc, char **argv)
{
    int provided;
    if (argc < 3) return 2;
    int count = atoi(argv[2]) / AT_A_TIME * AT_A_TIME;
    count_from_here();
    DID(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    DID(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    /* The loader finds the functions here, and not where a thread may be cancelled at any instruction. */
    int number;
    DID(MPI_Initialized(&number));
    DID(MPI_Comm_size(MPI_COMM_WORLD, &number));
    DID(MPI_Wtime());
    asynchronous = strcmp(argv[1], "async") == 0;
    if (strcmp(argv[1], "pending") == 0) cancel_all(pending, count, 1);
    if (strcmp(argv[1], "random") == 0 || asynchronous) cancel_all(random_moment, count, AT_A_TIME);
    if (strcmp(argv[1], "files") == 0) cancel_all(files, count, 1);
    if (strcmp(argv[1], "openmp") == 0) cancel_all(regions, count, 1);
    /* Who is cancelled before it has begun has nothing to clean. */
    if (strcmp(argv[1], "random") != 0 && !asynchronous) wrong += cleaned != count;
    printf("rank %d: %s, %d wrong\n", rank, argv[1], wrong);
    fflush(stdout);
    DID(MPI_Barrier(MPI_COMM_WORLD));
    DID(MPI_Finalize());
    came_to_the_end();
    return wrong != 0;
}
