/*
 * coverage: calls the functions of MPI 3.1, family by family, and of MPI 4
 * where the library has them, and checks their results.
 *
 *     coverage [FILE=coverage.workload] [FAMILY...]
 *
 * FILE is made, used and deleted by the family "files". With FAMILY only the
 * families named run. Left out: dynamic processes (spawn, connect, names), and
 * functions that are macros in the library's header.
 *
 * Calls of each rank: with WORKLOAD_COUNTS=DIR (counted_calls.h) the program
 * writes how often each function was called; that is the reference, as the
 * numbers differ with the version of MPI and with how often a test found a
 * request incomplete. Three calls come before MPI_Init_thread and one after
 * MPI_Finalize. Point-to-point messages go around the ring, to rank + 1, but
 * they are not listed: wildcard, persistent and communicators list theirs.
 */
#include "coverage.h"

int rank, size, left, right, failures;
const char *scratch_file;

static const struct {
    const char *name;
    void (*cover)(void);
} family[] = {
    {"environment", cover_environment},   {"attributes", cover_attributes},
    {"groups", cover_groups},             {"communicators", cover_communicators},
    {"datatypes", cover_datatypes},       {"operations", cover_operations},
    {"point_to_point", cover_point_to_point}, {"requests", cover_requests},
    {"collectives", cover_collectives},   {"topologies", cover_topologies},
    {"one_sided", cover_one_sided},       {"files", cover_files},
    {"tools", cover_tools},               {"mpi4", cover_mpi4},
};

static int chosen(const char *name, int argc, char **argv)
{
    int found = argc <= 2;
    for (int i = 2; i < argc; i++)
        found |= strcmp(argv[i], name) == 0;
    return found;
}

int main(int argc, char **argv)
{
    int flag, provided, version, subversion, total;
    CALL(MPI_Initialized, &flag);
    CHECK(!flag);
    CALL(MPI_Finalized, &flag);
    CHECK(!flag);
    CALL(MPI_Get_version, &version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);

    CALL(MPI_Init_thread, &argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    CALL(MPI_Initialized, &flag);
    CHECK(flag);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    scratch_file = argc > 1 ? argv[1] : "coverage.workload";

    for (size_t i = 0; i < sizeof family / sizeof family[0]; i++) {
        if (!chosen(family[i].name, argc, argv))
            continue;
        family[i].cover();
        CALL(MPI_Allreduce, &failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("coverage %s %s\n", family[i].name, total ? "failed" : "ok");
            fflush(stdout);
        }
        if (total) {
            CALL(MPI_Finalize);
            return 1;
        }
    }
    CALL(MPI_Finalize);
    CALL(MPI_Finalized, &flag);
    CHECK(flag);
    write_counts(rank);
    return failures != 0;
}
