/* A library whose constructor asks MPI something, as Open MPI's own for C++ does: before the program has begun, and before
 * most other libraries are initialised. */
#include <mpi.h>

int early_answer = -1;

__attribute__((constructor)) static void ask(void)
{
    MPI_Initialized(&early_answer);
}
