/*
 * small_stacks: MPI calls on threads with little stack, as runtimes with many
 * threads make them.
 *
 *     small_stacks [BYTES=16384] [CALLS=50000]
 *
 * Each rank starts a thread with a stack of BYTES, which makes the first and all
 * further calls there. Exits with 77 where the MPI library does not give
 * MPI_THREAD_MULTIPLE.
 *
 * Calls of each rank:  MPI_Init_thread, MPI_Comm_size, MPI_Finalize: 1 each
 *                      MPI_Comm_rank CALLS, on the thread
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

static int calls = 50000;

static void *work(void *argument)
{
    int rank = -1;
    for (int i = 0; i < calls; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *(int *)argument = rank;
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, size, rank = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return SKIPPED;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 16384;
    calls = argc > 2 ? atoi(argv[2]) : calls;

    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int refused = pthread_attr_setstacksize(&attributes, bytes);
    refused = refused ? refused : pthread_create(&thread, &attributes, work, &rank);
    if (refused) {
        fprintf(stderr, "small_stacks: no thread with %zu bytes: %s\n", bytes, strerror(refused));
        return 1;
    }
    pthread_join(thread, NULL);
    printf("small_stacks: rank %d of %d, stack of %zu bytes\n", rank, size, bytes);
    fflush(stdout);
    MPI_Finalize();
    return rank < 0;
}
