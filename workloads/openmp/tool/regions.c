/* regions: ten parallel regions between MPI_Init and MPI_Finalize; prints how many threads ran them in all. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int shares = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2) reduction(+ : shares)
        shares++;
    }
    printf("regions: %d shares\n", shares);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
