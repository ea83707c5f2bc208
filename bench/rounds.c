/* Processes that share a walk, round by round, as `walk_rounds` has recorded them: each computes, tells all how long its letters
 * are, and sends them. Runs under SimGrid's SMPI; 1 flop stands for 1 ns. Usage: rounds FILE. Prints simulated seconds. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, processes, rounds;
    long long alone_ns, base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file || fscanf(file, "%d %d %lld %lld", &processes, &rounds, &alone_ns, &base) != 4 || processes != size) {
        fprintf(stderr, "rounds: no file of %d processes\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int *gives = malloc(4 * sizeof(int) * size), *gets = gives + size, *gives_at = gets + size, *gets_at = gives_at + size;
    size_t room = 1 << 26;
    char *give = malloc(room), *get = malloc(room);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        long long own_ns = 0;
        for (int process = 0; process < size; process++) {
            long long ns;
            if (fscanf(file, "%lld", &ns) != 1)
                MPI_Abort(MPI_COMM_WORLD, 1);
            own_ns = process == rank ? ns : own_ns;
            gives[process] = gets[process] = process == rank ? 0 : (int)base;
        }
        int letters, from, to, bytes;
        if (fscanf(file, "%d", &letters) != 1)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (; letters > 0 && fscanf(file, "%d %d %d", &from, &to, &bytes) == 3; letters--) {
            if (from == rank)
                gives[to] = bytes;
            if (to == rank)
                gets[from] = bytes;
        }
        gives_at[0] = gets_at[0] = 0;
        for (int process = 1; process < size; process++) {
            gives_at[process] = gives_at[process - 1] + gives[process - 1];
            gets_at[process] = gets_at[process - 1] + gets[process - 1];
        }
        smpi_execute_flops((double)own_ns);
        MPI_Alltoall(give, 8, MPI_BYTE, get, 8, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Alltoallv(give, gives, gives_at, MPI_BYTE, get, gets, gets_at, MPI_BYTE, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.9f\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
