/* All collectives: blocking, non-blocking and, in MPI 4, persistent. */
#include "coverage.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT };

#if MPI_VERSION >= 4
enum { WAYS = PERSISTENT + 1 };
#define START_PERSISTENT(name, ...)                                                          \
    do {                                                                                     \
        CALL(MPI_##name##_init, __VA_ARGS__, MPI_INFO_NULL, &request);                       \
        CALL(MPI_Start, &request);                                                           \
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);                                         \
        CALL(MPI_Request_free, &request);                                                    \
    } while (0)
#else
enum { WAYS = NONBLOCKING + 1 };
#define START_PERSISTENT(name, ...) ((void)0)
#endif

/* MPI_Bcast(...), MPI_Ibcast(...) and a wait, or MPI_Bcast_init(...) and a start. */
#define COLLECTIVE(name, lower_case_name, ...)                                               \
    do {                                                                                     \
        if (way == BLOCKING) {                                                               \
            CALL(MPI_##name, __VA_ARGS__);                                                   \
        } else if (way == NONBLOCKING) {                                                     \
            CALL(MPI_I##lower_case_name, __VA_ARGS__, &request);                             \
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);                                     \
        } else {                                                                             \
            START_PERSISTENT(name, __VA_ARGS__);                                             \
        }                                                                                    \
    } while (0)

static int *one_each, *places, *byte_places, *out, *in;
static MPI_Datatype *types;
static MPI_Request request;

static void reset(void)
{
    for (int i = 0; i < size; i++) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
}

static void from_and_to_root(int way)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int root = size - 1, number = rank == root ? 77 : 0;
    COLLECTIVE(Barrier, barrier, world);
    COLLECTIVE(Bcast, bcast, &number, 1, MPI_INT, root, world);
    CHECK(number == 77);

    reset();
    COLLECTIVE(Gather, gather, &rank, 1, MPI_INT, in, 1, MPI_INT, root, world);
    for (int i = 0; rank == root && i < size; i++)
        CHECK(in[i] == i);
    reset();
    COLLECTIVE(Gatherv, gatherv, &rank, 1, MPI_INT, in, one_each, places, MPI_INT, root, world);
    for (int i = 0; rank == root && i < size; i++)
        CHECK(in[i] == i);

    COLLECTIVE(Scatter, scatter, out, 1, MPI_INT, &number, 1, MPI_INT, root, world);
    CHECK(number == 100 * root + rank);
    number = -1;
    COLLECTIVE(Scatterv, scatterv, out, one_each, places, MPI_INT, &number, 1, MPI_INT, root,
               world);
    CHECK(number == 100 * root + rank);

    COLLECTIVE(Reduce, reduce, &rank, &number, 1, MPI_INT, MPI_SUM, root, world);
    CHECK(rank != root || number == size * (size - 1) / 2);
}

static void from_all_to_all(int way)
{
    MPI_Comm world = MPI_COMM_WORLD;
    reset();
    COLLECTIVE(Allgather, allgather, &rank, 1, MPI_INT, in, 1, MPI_INT, world);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i);
    reset();
    COLLECTIVE(Allgatherv, allgatherv, &rank, 1, MPI_INT, in, one_each, places, MPI_INT, world);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i);
    reset();
    in[rank] = rank;
    COLLECTIVE(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, world);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == i);

    reset();
    COLLECTIVE(Alltoall, alltoall, out, 1, MPI_INT, in, 1, MPI_INT, world);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 100 * i + rank);
    reset();
    COLLECTIVE(Alltoallv, alltoallv, out, one_each, places, MPI_INT, in, one_each, places, MPI_INT,
               world);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 100 * i + rank);
    reset();
    COLLECTIVE(Alltoallw, alltoallw, out, one_each, byte_places, types, in, one_each, byte_places,
               types, world);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 100 * i + rank);
}

static void reductions(int way)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int number = -1, place = rank, all = size * (size - 1) / 2;
    COLLECTIVE(Allreduce, allreduce, &rank, &number, 1, MPI_INT, MPI_SUM, world);
    CHECK(number == all);
    COLLECTIVE(Allreduce, allreduce, MPI_IN_PLACE, &place, 1, MPI_INT, MPI_SUM, world);
    CHECK(place == all);
    reset();
    COLLECTIVE(Reduce_scatter, reduce_scatter, out, &number, one_each, MPI_INT, MPI_SUM, world);
    CHECK(number == 100 * all + size * rank);
    number = -1;
    COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, out, &number, 1, MPI_INT, MPI_SUM,
               world);
    CHECK(number == 100 * all + size * rank);
    COLLECTIVE(Scan, scan, &rank, &number, 1, MPI_INT, MPI_SUM, world);
    CHECK(number == rank * (rank + 1) / 2);
    COLLECTIVE(Exscan, exscan, &rank, &number, 1, MPI_INT, MPI_SUM, world);
    CHECK(rank == 0 || number == rank * (rank - 1) / 2);
}

void cover_collectives(void)
{
    one_each = malloc(size * sizeof(int)), places = malloc(size * sizeof(int));
    byte_places = malloc(size * sizeof(int)), types = malloc(size * sizeof *types);
    out = malloc(size * sizeof(int)), in = malloc(size * sizeof(int));
    for (int i = 0; i < size; i++) {
        one_each[i] = 1;
        places[i] = i;
        byte_places[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int way = BLOCKING; way < WAYS; way++) {
        from_and_to_root(way);
        from_all_to_all(way);
        reductions(way);
    }
    free(one_each), free(places), free(byte_places), free(types), free(out), free(in);
}
