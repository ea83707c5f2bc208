/*
 * early_call: a program with a library that calls MPI before main.
 *
 *     early_call [WORD...]
 *
 * Calls of each rank: MPI_Initialized, MPI_Init, MPI_Comm_rank, MPI_Finalize: 1
 * each.
 */
#include <mpi.h>
#include <stdio.h>

extern int early_answer;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("early_call rank %d: %d words, initialised early: %d\n", rank, argc, early_answer);
    MPI_Finalize();
    return early_answer != 0;
}
