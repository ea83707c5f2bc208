/*
 * neighbours: neighbourhood collectives on a grid and on a graph.
 *
 *     neighbours [INTS=4]
 *
 * The grid is two-dimensional without wrap-around, so that ranks at the border
 * have MPI_PROC_NULL neighbours; the graph is a ring in which each rank has
 * its left and its right rank as sources and as destinations (just one of them
 * where both are the same rank: MPI libraries do not agree on the order in
 * which two edges between the same ranks are matched).
 *
 * Calls of each rank:
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Reduce, MPI_Finalize: 1 each
 *     MPI_Dims_create 1, MPI_Cart_create 1, MPI_Cart_shift 2,
 *     MPI_Dist_graph_create_adjacent 1, MPI_Dist_graph_neighbors_count 1,
 *     MPI_Dist_graph_neighbors 1, MPI_Comm_free 2
 *     on each of the two topologies, with INTS ints per neighbour (the v and w
 *     variants: INTS + 1 + place of the neighbour in the list):
 *     MPI_Neighbor_allgather, _allgatherv, _alltoall, _alltoallv, _alltoallw
 *     and MPI_Ineighbor_allgather, _allgatherv, _alltoall, _alltoallv,
 *     _alltoallw: 1 each, MPI_Wait 5
 * No point-to-point messages.
 */
#include "counted_calls.h"

enum { MOST = 4 }; /* neighbours */

static int rank, wrong;
static long checksum;

struct topology {
    MPI_Comm comm;
    int n;                  /* neighbours, in both directions */
    int from[MOST], to[MOST];
    int place_there[MOST];  /* where we stand in the list of neighbour from[k] */
};

/* What `sender` sends as element i to its neighbour of the given place. */
static int element(int sender, int place, int i)
{
    return 1000 * sender + 100 * place + i;
}

/*
 * Checks what came from each neighbour. In gathers a rank sends the same to
 * all, as if to place 0; otherwise it sends to the place that we have there.
 */
static void check(const struct topology *t, const int *in, const int *count, const int *start,
                  int gather)
{
    for (int k = 0; k < t->n; k++) {
        if (t->from[k] == MPI_PROC_NULL)
            continue;
        for (int i = 0; i < count[k]; i++) {
            wrong |= in[start[k] + i] != element(t->from[k], gather ? 0 : t->place_there[k], i);
            checksum += in[start[k] + i] % 997;
        }
    }
}

static void exchange(const struct topology *t, int ints)
{
    MPI_Comm comm = t->comm;
    MPI_Request request;
    int room = MOST * (ints + 1 + MOST);
    int *out = malloc(room * sizeof *out), *in = malloc(room * sizeof *in);
    int same[MOST], same_start[MOST], send[MOST], send_start[MOST], receive[MOST],
        receive_start[MOST], gathered[MOST], gathered_start[MOST];
    MPI_Aint send_byte[MOST], receive_byte[MOST];
    MPI_Datatype type[MOST];
    for (int k = 0; k < t->n; k++) {
        same[k] = gathered[k] = ints;
        same_start[k] = k * ints;
        send[k] = ints + 1 + k;
        receive[k] = ints + 1 + t->place_there[k]; /* what they call send[] */
        send_start[k] = receive_start[k] = k * (ints + 1 + MOST);
        gathered_start[k] = receive_start[k];
        send_byte[k] = receive_byte[k] = send_start[k] * (MPI_Aint)sizeof(int);
        type[k] = MPI_INT;
    }

    for (int blocking = 1; blocking >= 0; blocking--) {
        for (int i = 0; i < ints; i++)
            out[i] = element(rank, 0, i);
        memset(in, 0, room * sizeof *in);
        if (blocking) {
            CALL(MPI_Neighbor_allgather, out, ints, MPI_INT, in, ints, MPI_INT, comm);
        } else {
            CALL(MPI_Ineighbor_allgather, out, ints, MPI_INT, in, ints, MPI_INT, comm, &request);
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        }
        check(t, in, same, same_start, 1);
        memset(in, 0, room * sizeof *in);
        if (blocking) {
            CALL(MPI_Neighbor_allgatherv, out, ints, MPI_INT, in, gathered, gathered_start,
                 MPI_INT, comm);
        } else {
            CALL(MPI_Ineighbor_allgatherv, out, ints, MPI_INT, in, gathered, gathered_start,
                 MPI_INT, comm, &request);
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        }
        check(t, in, gathered, gathered_start, 1);

        for (int k = 0; k < t->n; k++)
            for (int i = 0; i < ints; i++)
                out[same_start[k] + i] = element(rank, k, i);
        memset(in, 0, room * sizeof *in);
        if (blocking) {
            CALL(MPI_Neighbor_alltoall, out, ints, MPI_INT, in, ints, MPI_INT, comm);
        } else {
            CALL(MPI_Ineighbor_alltoall, out, ints, MPI_INT, in, ints, MPI_INT, comm, &request);
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        }
        check(t, in, same, same_start, 0);

        for (int k = 0; k < t->n; k++)
            for (int i = 0; i < send[k]; i++)
                out[send_start[k] + i] = element(rank, k, i);
        memset(in, 0, room * sizeof *in);
        if (blocking) {
            CALL(MPI_Neighbor_alltoallv, out, send, send_start, MPI_INT, in, receive,
                 receive_start, MPI_INT, comm);
        } else {
            CALL(MPI_Ineighbor_alltoallv, out, send, send_start, MPI_INT, in, receive,
                 receive_start, MPI_INT, comm, &request);
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        }
        check(t, in, receive, receive_start, 0);
        memset(in, 0, room * sizeof *in);
        if (blocking) {
            CALL(MPI_Neighbor_alltoallw, out, send, send_byte, type, in, receive, receive_byte,
                 type, comm);
        } else {
            CALL(MPI_Ineighbor_alltoallw, out, send, send_byte, type, in, receive, receive_byte,
                 type, comm, &request);
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        }
        check(t, in, receive, receive_start, 0);
    }
    free(out), free(in);
}

int main(int argc, char **argv)
{
    int size;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int ints = argc > 1 ? atoi(argv[1]) : 4;

    /* Up, down, left, right: what we send up, our upper neighbour has from
       below, so opposite directions meet. */
    struct topology grid = {.n = 4, .place_there = {1, 0, 3, 2}};
    int dims[2] = {0, 0}, periods[2] = {0, 0};
    CALL(MPI_Dims_create, size, 2, dims);
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, 0, &grid.comm);
    CALL(MPI_Cart_shift, grid.comm, 0, 1, &grid.from[0], &grid.from[1]);
    CALL(MPI_Cart_shift, grid.comm, 1, 1, &grid.from[2], &grid.from[3]);
    exchange(&grid, ints);

    /* Sources left, right; destinations right, left: so that we stand at place
       k in the list of our source k. */
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    struct topology ring = {.n = left == right ? 1 : 2, .place_there = {0, 1}};
    int in_degree, out_degree, weighted;
    CALL(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, ring.n, (int[]){left, right},
         MPI_UNWEIGHTED, ring.n, (int[]){right, left}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
         &ring.comm);
    CALL(MPI_Dist_graph_neighbors_count, ring.comm, &in_degree, &out_degree, &weighted);
    wrong |= in_degree != ring.n || out_degree != ring.n || weighted;
    CALL(MPI_Dist_graph_neighbors, ring.comm, ring.n, ring.from, MPI_UNWEIGHTED, ring.n,
         ring.to, MPI_UNWEIGHTED);
    exchange(&ring, ints);

    long total = 0;
    CALL(MPI_Reduce, &checksum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "neighbours: rank %d received wrong numbers\n", rank);
    else if (rank == 0)
        printf("neighbours ranks %d ints %d checksum %ld\n", size, ints, total);
    CALL(MPI_Comm_free, &grid.comm);
    CALL(MPI_Comm_free, &ring.comm);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
