/*
 * counted: counts its completed MPI calls in a shared file, so that after a
 * kill -9 the count on disk can be compared with what a tracer saved.
 *
 *     counted FILE [SECONDS=0, for ever]
 *
 * Each rank maps FILE and keeps a 64-bit counter at byte 64 x rank: the number
 * of MPI calls that have returned, MPI_Init included. The pages belong to the
 * kernel, so the counters outlive the process. A rank killed at any moment has
 * entered at most one call more than it counted.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1
 * and per round:       MPI_Irecv 1 (left, tag 1, 256 bytes)
 *                      MPI_Isend 2 (right, tag 1, 256 bytes; right, tag 2, 8 bytes)
 *                      MPI_Iprobe 1 or more (left, tag 2), until found
 *                      MPI_Recv 1 (left, tag 2, 8 bytes)
 *                      MPI_Waitall 1 (3 requests)
 *                      MPI_Allreduce 1 (4 bytes: rank 0 says when to stop)
 */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STRIDE = 64, RING = 1, PROBED = 2, RING_BYTES = 256 };

static _Atomic uint64_t *counter;

static void completed(void)
{
    /* This rank is the only writer, so a load and a store do. */
    uint64_t n = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, n + 1, memory_order_release);
}

#define COUNT(call) ((void)(call), completed())

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static _Atomic uint64_t *map_counter(const char *path, int rank, int size)
{
    int file = open(path, O_RDWR | O_CREAT, 0666);
    /* Every rank sets the same length, so it does not matter who is first. */
    if (file < 0 || ftruncate(file, (off_t)STRIDE * size) != 0) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    char *base = mmap(NULL, (size_t)STRIDE * size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    return (_Atomic uint64_t *)(void *)(base + STRIDE * rank);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) {
        fprintf(stderr, "usage: counted FILE [SECONDS]\n");
        MPI_Finalize();
        return 2;
    }
    double limit = argc > 2 ? atof(argv[2]) : 0;
    counter = map_counter(argv[1], rank, size);
    atomic_store(counter, 3); /* the three calls above */

    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    char out[RING_BYTES] = {0}, in[RING_BYTES];
    long round = 0, received = 0;
    int stop = 0;
    double deadline = seconds() + limit;
    while (!stop) {
        MPI_Request request[3];
        COUNT(MPI_Irecv(in, RING_BYTES, MPI_BYTE, left, RING, MPI_COMM_WORLD, &request[0]));
        COUNT(MPI_Isend(out, RING_BYTES, MPI_BYTE, right, RING, MPI_COMM_WORLD, &request[1]));
        COUNT(MPI_Isend(&round, 1, MPI_LONG, right, PROBED, MPI_COMM_WORLD, &request[2]));
        int found = 0;
        while (!found) {
            COUNT(MPI_Iprobe(left, PROBED, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
            if (!found)
                sched_yield(); /* the sender may be waiting for this core */
        }
        COUNT(MPI_Recv(&received, 1, MPI_LONG, left, PROBED, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        COUNT(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
        int mine = rank == 0 && limit > 0 && seconds() >= deadline;
        COUNT(MPI_Allreduce(&mine, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        if (received != round) {
            fprintf(stderr, "counted: rank %d got round %ld in round %ld\n", rank, received, round);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        round++;
    }
    COUNT(MPI_Finalize());
    if (rank == 0)
        printf("counted ranks %d rounds %ld\n", size, round);
    return 0;
}
