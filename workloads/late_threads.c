/*
 * late_threads: threads that begin when the process may do less than before.
 *
 *     late_threads [WAY=nothing] [THREADS=16] [CALLS=3000]
 *
 * After MPI_Init, and after a first call of the main thread, each rank loses
 * something: "nothing", "root" (it becomes the user nobody), "place" (its root is
 * another directory: the present one) or "files" (it may have 32 open files).
 * Then THREADS threads live at the same time and make CALLS calls each. Losing root
 * or place takes a process that has it. Exits with 77 where the MPI library does not
 * give MPI_THREAD_MULTIPLE.
 *
 * Calls of each rank:  MPI_Init_thread, MPI_Barrier, MPI_Finalize: 1 each
 *                      MPI_Comm_rank 1 + THREADS x CALLS
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SKIPPED = 77, NOBODY = 65534, FEW_FILES = 32, MOST_THREADS = 64 };

static int calls = 3000;
static pthread_barrier_t all_live;

static void *work(void *argument)
{
    int rank;
    pthread_barrier_wait(&all_live);
    for (int i = 0; i < calls; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *(int *)argument = rank;
    pthread_barrier_wait(&all_live);
    return NULL;
}

static int lose(const char *way)
{
    if (strcmp(way, "root") == 0)
        return setuid(NOBODY);
    if (strcmp(way, "place") == 0)
        return chroot(".");
    if (strcmp(way, "files") == 0) {
        struct rlimit few = {FEW_FILES, FEW_FILES};
        return setrlimit(RLIMIT_NOFILE, &few);
    }
    return strcmp(way, "nothing") != 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "nothing";
    int threads = argc > 2 ? atoi(argv[2]) : 16, provided, rank, wrong = 0;
    calls = argc > 3 ? atoi(argv[3]) : calls;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return SKIPPED;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (lose(way)) {
        perror(way);
        return 1;
    }
    pthread_t thread[MOST_THREADS];
    int seen[MOST_THREADS];
    pthread_barrier_init(&all_live, NULL, threads);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, &seen[i])) {
            perror("pthread_create");
            return 1;
        }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        wrong += seen[i] != rank;
    }
    printf("late_threads: rank %d, %d threads of %d calls, %d wrong\n", rank, threads, calls, wrong);
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
