/* sanitized clean|memory|undefined|race: a program for gcc's sanitizers, without a fault or with one of each kind. */
#include "count.h"
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <string.h>

static volatile int shared;

static void *race(void *unused)
{
    for (int i = 0; i < 100000; i++)
        shared++;
    return unused;
}

int main(int argc, char **argv)
{
    int rank, sum;
    const char *way = argc > 1 ? argv[1] : "clean";
    volatile int at = 8, most = INT_MAX;
    count_from_here();
    DID(MPI_Init(&argc, &argv));
    DID(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < 100; i++)
        DID(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (strcmp(way, "memory") == 0) {
        char *eight = malloc(8);
        eight[at] = 1;
        free(eight);
    }
    if (strcmp(way, "undefined") == 0) shared = most + 1;
    if (strcmp(way, "race") == 0) {
        pthread_t other;
        pthread_create(&other, NULL, race, NULL);
        race(NULL);
        pthread_join(other, NULL);
    }
    printf("rank %d sum %d\n", rank, sum);
    fflush(stdout);
    DID(MPI_Finalize());
    came_to_the_end();
    return 0;
}
