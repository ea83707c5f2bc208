/* A library between a program and MPI that calls MPI by its second names: it doubles sums, and counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long allreduces, isends;

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    for (int i = 0; type == MPI_INT && i < count; i++)
        ((int *)receive)[i] *= 2;
    allreduces++;
    return code;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    isends++;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Finalize(void)
{
    /* Asked of the launcher: a call of its own would be counted where the library is part of the program. */
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *rank = open_mpi ? open_mpi : getenv("PMI_RANK");
    printf("doubler of rank %s: %ld sums, %ld sends\n", rank, allreduces, isends);
    fflush(stdout);
    return PMPI_Finalize();
}
