/* Processes that share a walk, meeting by meeting, as `walk_rounds` has recorded them: each computes, tells all how long its
 * letters are, and sends them, one for all or some to some. Runs under SimGrid's SMPI; 1 flop stands for 1 ns. Usage: rounds FILE.
 * Prints simulated seconds. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTICE_BYTES 256

static void need(int yes)
{
    if (!yes) {
        fprintf(stderr, "rounds: the file ends too early\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void offsets(int size, const int *counts, int *at)
{
    at[0] = 0;
    for (int process = 1; process < size; process++)
        at[process] = at[process - 1] + counts[process - 1];
}

int main(int argc, char **argv)
{
    int rank, size, processes, meetings;
    long long alone_ns;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file || fscanf(file, "%d %d %lld", &processes, &meetings, &alone_ns) != 3 || processes != size) {
        fprintf(stderr, "rounds: no file of %d processes\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int *gives = malloc(4 * sizeof(int) * size), *gets = gives + size, *gives_at = gets + size, *gets_at = gives_at + size;
    MPI_Request *requests = malloc(2 * sizeof(MPI_Request) * size);
    size_t room = 1 << 26;
    char *give = malloc(room), *get = malloc(room);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int meeting = 0; meeting < meetings; meeting++) {
        long long own_ns = 0, ns;
        for (int process = 0; process < size; process++) {
            need(fscanf(file, "%lld", &ns) == 1);
            own_ns = process == rank ? ns : own_ns;
        }
        char kind;
        int longest = 0;
        need(fscanf(file, " %c", &kind) == 1);
        memset(gives, 0, 2 * sizeof(int) * size);
        if (kind == 'a') {
            for (int process = 0; process < size; process++) {
                need(fscanf(file, "%d", &gets[process]) == 1);
                longest = gets[process] > longest ? gets[process] : longest;
            }
        } else {
            int letters, from, to, bytes;
            need(fscanf(file, "%d", &letters) == 1);
            for (; letters > 0; letters--) {
                need(fscanf(file, "%d %d %d", &from, &to, &bytes) == 3);
                if (from == rank)
                    gives[to] = bytes;
                if (to == rank)
                    gets[from] = bytes;
            }
        }
        offsets(size, gives, gives_at);
        offsets(size, gets, gets_at);
        smpi_execute_flops((double)own_ns);
        /* As the peers crate does it: messages to some, or a notice with what is short, then the rest. */
        if (kind == 'e') {
            int started = 0;
            for (int process = 0; process < size; process++)
                if (gets[process])
                    MPI_Irecv(get + gets_at[process], gets[process], MPI_BYTE, process, 1, MPI_COMM_WORLD, &requests[started++]);
            for (int process = 0; process < size; process++)
                if (gives[process])
                    MPI_Isend(give + gives_at[process], gives[process], MPI_BYTE, process, 1, MPI_COMM_WORLD, &requests[started++]);
            MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Allgather(give, NOTICE_BYTES, MPI_BYTE, get, NOTICE_BYTES, MPI_BYTE, MPI_COMM_WORLD);
            if (longest > NOTICE_BYTES - 8)
                MPI_Allgatherv(give, gets[rank], MPI_BYTE, get, gets, gets_at, MPI_BYTE, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.9f\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
