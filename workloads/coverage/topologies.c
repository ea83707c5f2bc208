/* Grids, graphs, distributed graphs, and their neighbourhood collectives. */
#include "coverage.h"

static void grids(void)
{
    MPI_Comm grid, line;
    int dims[2] = {0, 0}, periods[2] = {1, 1}, coords[2], n, place, low, high, kind;
    int got_dims[2], got_periods[2], got_coords[2], keep[2] = {1, 0};
    CALL(MPI_Dims_create, size, 2, dims);
    CHECK(dims[0] * dims[1] == size);
    CALL(MPI_Cart_map, MPI_COMM_WORLD, 2, dims, periods, &place);
    CHECK(place >= 0 && place < size);
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    CALL(MPI_Topo_test, grid, &kind);
    CHECK(kind == MPI_CART);
    CALL(MPI_Cartdim_get, grid, &n);
    CHECK(n == 2);
    CALL(MPI_Cart_coords, grid, rank, 2, coords);
    CALL(MPI_Cart_rank, grid, coords, &place);
    CHECK(place == rank);
    CALL(MPI_Cart_get, grid, 2, got_dims, got_periods, got_coords);
    CHECK(got_dims[0] == dims[0] && got_periods[0] && got_coords[1] == coords[1]);
    CALL(MPI_Cart_shift, grid, 1, 1, &low, &high);
    CHECK(low >= 0 && high >= 0);
    CALL(MPI_Cart_sub, grid, keep, &line);
    CALL(MPI_Comm_size, line, &n);
    CHECK(n == dims[0]);
    CALL(MPI_Comm_free, &line);
    CALL(MPI_Comm_free, &grid);
}

/* A star: every rank is joined to rank 0, and rank 0 to all. */
static void graphs(void)
{
    MPI_Comm graph;
    int *index = malloc(size * sizeof(int)), *edges = malloc((2 * size + 1) * sizeof(int));
    int *got_index = malloc(size * sizeof(int)), *got_edges = malloc((2 * size + 1) * sizeof(int));
    int n = 0, nodes, edge_count, neighbours, place, kind;
    for (int i = 1; i < size; i++)
        edges[n++] = i;
    index[0] = n;
    for (int i = 1; i < size; i++) {
        edges[n++] = 0;
        index[i] = n;
    }
    CALL(MPI_Graph_map, MPI_COMM_WORLD, size, index, edges, &place);
    CHECK(place >= 0 && place < size);
    CALL(MPI_Graph_create, MPI_COMM_WORLD, size, index, edges, 0, &graph);
    CALL(MPI_Topo_test, graph, &kind);
    CHECK(kind == MPI_GRAPH);
    CALL(MPI_Graphdims_get, graph, &nodes, &edge_count);
    CHECK(nodes == size && edge_count == n);
    CALL(MPI_Graph_get, graph, size, n, got_index, got_edges);
    CHECK(memcmp(index, got_index, size * sizeof(int)) == 0);
    CALL(MPI_Graph_neighbors_count, graph, rank, &neighbours);
    CHECK(neighbours == (rank == 0 ? size - 1 : 1));
    CALL(MPI_Graph_neighbors, graph, rank, neighbours, got_edges);
    CHECK(rank == 0 || got_edges[0] == 0);
    CALL(MPI_Comm_free, &graph);
    free(index), free(edges), free(got_index), free(got_edges);
}

/* A ring in one direction: a number comes from the left, one goes to the right. */
static void neighbourhood(MPI_Comm ring)
{
    int out = rank, in = -1, one = 1, start = 0;
    MPI_Aint byte = 0;
    MPI_Datatype type = MPI_INT;
    MPI_Request request;
    CALL(MPI_Neighbor_allgather, &out, 1, type, &in, 1, type, ring);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Neighbor_allgatherv, &out, 1, type, &in, &one, &start, type, ring);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Neighbor_alltoall, &out, 1, type, &in, 1, type, ring);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Neighbor_alltoallv, &out, &one, &start, type, &in, &one, &start, type, ring);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Neighbor_alltoallw, &out, &one, &byte, &type, &in, &one, &byte, &type, ring);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Ineighbor_allgather, &out, 1, type, &in, 1, type, ring, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Ineighbor_allgatherv, &out, 1, type, &in, &one, &start, type, ring, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Ineighbor_alltoall, &out, 1, type, &in, 1, type, ring, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Ineighbor_alltoallv, &out, &one, &start, type, &in, &one, &start, type, ring,
         &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(in == left);
    in = -1;
    CALL(MPI_Ineighbor_alltoallw, &out, &one, &byte, &type, &in, &one, &byte, &type, ring,
         &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CHECK(in == left);
}

static void distributed_graphs(void)
{
    MPI_Comm ring;
    int in_degree, out_degree, weighted, source, destination, one = 1, kind;
    /* Every rank tells its own edge, or both its edges: the same graph. */
    CALL(MPI_Dist_graph_create, MPI_COMM_WORLD, 1, &rank, &one, &right, MPI_UNWEIGHTED,
         MPI_INFO_NULL, 0, &ring);
    neighbourhood(ring);
    CALL(MPI_Comm_free, &ring);
    CALL(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    CALL(MPI_Topo_test, ring, &kind);
    CHECK(kind == MPI_DIST_GRAPH);
    CALL(MPI_Dist_graph_neighbors_count, ring, &in_degree, &out_degree, &weighted);
    CHECK(in_degree == 1 && out_degree == 1 && !weighted);
    CALL(MPI_Dist_graph_neighbors, ring, 1, &source, MPI_UNWEIGHTED, 1, &destination,
         MPI_UNWEIGHTED);
    CHECK(source == left && destination == right);
    neighbourhood(ring);
    CALL(MPI_Comm_free, &ring);
}

void cover_topologies(void)
{
    grids();
    graphs();
    distributed_graphs();
}
