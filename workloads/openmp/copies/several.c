/*
 * several: loads the libraries it is given, each with an OpenMP runtime of its own, as NumPy, SciPy and PyTorch have in
 * one process, and calls each in turn.
 *
 *     several LIBRARY...
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++) {
            void *library = dlopen(argv[i], (round + i) % 2 ? RTLD_NOW : RTLD_LAZY);
            if (library == NULL) {
                fprintf(stderr, "several: %s\n", dlerror());
                return 2;
            }
            long (*loops)(void) = (long (*)(void))dlsym(library, "client_loops");
            long (*tasks)(void) = (long (*)(void))dlsym(library, "client_tasks");
            long (*locks)(void) = (long (*)(void))dlsym(library, "client_locks");
            printf("several: round %d library %d loops %ld tasks %ld locks %ld\n", round, i, loops(), tasks(), locks());
            fflush(stdout);
        }
    MPI_Finalize();
    return 0;
}
