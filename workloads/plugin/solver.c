/* solver: what libplugin.so needs. It is the one that calls MPI. */
#include <mpi.h>
#include <stdio.h>

/* 50 rounds of an exchange in a ring and a sum over all ranks. */
int solver_run(void)
{
    int rank, size;
    long sum = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 50; round++) {
        long give = rank + round, got = 0, total = 0;
        MPI_Sendrecv(&give, 1, MPI_LONG, (rank + 1) % size, 0, &got, 1, MPI_LONG, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&got, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += total;
    }
    printf("plugin: rank %d sum %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}

/* What `asked` hands to MPI_Allreduce. */
MPI_Comm solver_world(void) { return MPI_COMM_WORLD; }
MPI_Datatype solver_long(void) { return MPI_LONG; }
MPI_Op solver_sum(void) { return MPI_SUM; }
