/*
 * fem: finite elements for Poisson's equation, and conjugate gradients.
 *
 *     fem [N=8] [ITERATIONS=30] [lists|probe]
 *
 * N x N x N elements in all, with nodes at their corners. Boxes of nodes are made
 * for any number of ranks by cutting the longest side again and again; each rank
 * must get a node. It makes the rows of its own nodes, looks up whose the other
 * nodes are that they need, and asks for them:
 *
 *   lists  all tell all how long their list is, then lists are sent
 *   probe  ranks learn only how many lists will come, and look at each before
 *          they receive it, from whoever it is
 *
 * Calls of each rank, with B neighbours (the matrix is symmetric: who needs a
 * node of mine has one that I need):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *     lists: MPI_Alltoall 1 (4 bytes to each rank), MPI_Irecv B, MPI_Send B,
 *            MPI_Waitall 1
 *     probe: MPI_Reduce_scatter_block 1 (4 bytes), MPI_Isend B, MPI_Probe B,
 *            MPI_Get_count B, MPI_Recv B, MPI_Waitall 1
 *     in each iteration: MPI_Irecv B, MPI_Send B, MPI_Waitall 1 (tag 2, 8 bytes a node),
 *     MPI_Allreduce 2 (8 bytes, SUM); and 2 + 1 (MAX) more of these
 * Lists have 8 bytes a node (tag 1). How long they are follows from the cuts and
 * from which nodes are on the surface, where the solution is given.
 *
 * The solution is linear, which finite elements of this kind get exactly; the
 * error must be as small as the residual lets it: checked.
 */
#include "exchange.h"

#include <cmath>

namespace {

using Vector = std::vector<double>;

double reduce(double mine, MPI_Op op)
{
    double all = 0;
    CALL(MPI_Allreduce, &mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

double dot(const Vector &x, const Vector &y, int count)
{
    double mine = 0;
    for (int i = 0; i < count; i++)
        mine += x[i] * y[i];
    return reduce(mine, MPI_SUM);
}

void multiply(const Matrix &matrix, Exchange &exchange, Vector &x, Vector &y)
{
    exchange.fetch(x);
    for (int row = 0; row < exchange.own(); row++) {
        y[row] = 0;
        for (int entry = matrix.begin[row]; entry < matrix.begin[row + 1]; entry++)
            y[row] += matrix.value[entry] * x[matrix.column[entry]];
    }
}

/* Conjugate gradients from 0; gives how much of the first residual is left. */
double solve(const Matrix &matrix, Exchange &exchange, Vector &x, int iterations)
{
    int own = exchange.own();
    Vector residual(exchange.all()), p(exchange.all()), product(exchange.all());
    for (int i = 0; i < own; i++)
        residual[i] = p[i] = matrix.right_side[i];
    double first = dot(residual, residual, own), rho = first;
    for (int iteration = 0; iteration < iterations; iteration++) {
        multiply(matrix, exchange, p, product);
        double energy = dot(p, product, own), alpha = energy > 0 ? rho / energy : 0;
        for (int i = 0; i < own; i++) {
            x[i] += alpha * p[i];
            residual[i] -= alpha * product[i];
        }
        double next = dot(residual, residual, own), beta = rho > 0 ? next / rho : 0;
        rho = next;
        for (int i = 0; i < own; i++)
            p[i] = residual[i] + beta * p[i];
    }
    return std::sqrt(rho / first);
}

/* The largest error of a node of this rank. */
double largest_error(const Mesh &mesh, const Box &box, const Vector &x)
{
    double worst = 0;
    size_t node = 0;
    int at[3];
    for (at[2] = box.low[2]; at[2] < box.high[2]; at[2]++)
        for (at[1] = box.low[1]; at[1] < box.high[1]; at[1]++)
            for (at[0] = box.low[0]; at[0] < box.high[0]; at[0]++)
                worst = std::fmax(worst, std::fabs(x[node++] - mesh.solution(at)));
    return worst;
}

bool run(int rank, int size, int n, int iterations, bool probe)
{
    int elements[3] = {n, n, n};
    Mesh mesh(elements);
    std::vector<Box> boxes = cut(mesh.nodes(), size);
    Matrix matrix = assemble(mesh, boxes[rank]);
    Exchange exchange(mesh, boxes, rank, matrix, probe);
    Vector x(exchange.all(), 0.0);
    double left = solve(matrix, exchange, x, iterations);
    double nodes = dot(Vector(exchange.own(), 1.0), Vector(exchange.own(), 1.0), exchange.own());
    double error = reduce(largest_error(mesh, boxes[rank], x), MPI_MAX);
    /* What a residual can become is bounded by how many nodes there are. */
    bool wrong = !(error <= 10.0 * n * n * n * left + 1e-11) || !(left < 1) || nodes != std::pow(n + 1.0, 3);
    const char *verdict = wrong ? "WRONG" : error < 1e-6 ? "solved" : "on the way";
    if (rank == 0) {
        if (wrong)
            fprintf(stderr, "fem: the residual fell to %g, the largest error is %g\n", left, error);
        printf("fem %d^3 elements on %d ranks, %d iterations: error below 1e%+.0f, %s\n", n, size, iterations,
               std::ceil(std::log10(error + 1e-15)), verdict);
    }
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    int rank, size;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 8;
    int iterations = argc > 2 ? atoi(argv[2]) : 30;
    bool probe = argc > 3 && strcmp(argv[3], "probe") == 0;
    if (n < 2 || (n + 1.0) * (n + 1.0) * (n + 1.0) < 8.0 * size) {
        fprintf(stderr, "fem: N must be 2 or more, and give each rank eight nodes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bool wrong = run(rank, size, n, iterations, probe);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
