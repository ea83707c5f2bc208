/* outer: libplugin.so, which `plugin` loads. It needs libsolver.so, and MPI only by that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int solver_run(void);
MPI_Comm solver_world(void);
MPI_Datatype solver_long(void);
MPI_Op solver_sum(void);

int plugin_run(void *library)
{
    (void)library;
    return solver_run();
}

/* The same, with functions that are asked for by name. */
int plugin_run_asked(void *library)
{
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*rank_of)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(library, "MPI_Comm_rank");
    int (*all)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) =
        (int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))dlsym(library, "MPI_Allreduce");
    int (*end)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    int rank;
    long sum = 0;
    init(NULL, NULL);
    rank_of(solver_world(), &rank);
    for (int round = 0; round < 50; round++) {
        long give = rank + round, total = 0;
        all(&give, &total, 1, solver_long(), solver_sum(), solver_world());
        sum += total;
    }
    printf("plugin: rank %d sum %ld\n", rank, sum);
    end();
    return 0;
}
