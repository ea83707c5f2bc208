/*
 * libwrapper.so: a library that stands between a program and MPI, as libraries
 * of sites and other tools do, and without which the program computes something
 * else. It doubles the sums of MPI_Allreduce, and counts calls.
 *
 * Each rank prints at MPI_Finalize how often MPI_Allreduce and MPI_Send came by,
 * and appends a line to the file wrapper.log in the present directory.
 */
#include <mpi.h>
#include <stdio.h>

static int allreduces, sends;

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    for (int i = 0; type == MPI_INT && i < count; i++)
        ((int *)receive)[i] *= 2;
    allreduces++;
    return code;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buffer, count, type, dest, tag, comm);
}

int MPI_Finalize(void)
{
    int rank;
    /* By its plain name, as wrappers do, too. */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("wrapper: rank %d called MPI_Allreduce %d times, MPI_Send %d times\n", rank, allreduces,
           sends);
    fflush(stdout);
    FILE *log = fopen("wrapper.log", "a");
    if (log) {
        fprintf(log, "rank %d was here\n", rank);
        fclose(log);
    }
    return PMPI_Finalize();
}
