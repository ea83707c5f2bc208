/*
 * mgcg: conjugate gradients with a multigrid preconditioner on a cube of points,
 * each tied to the 26 around it.
 *
 *     mgcg [N=8] [MOST=50] [TOLERANCE=1e-6] [LEVELS=3]
 *
 * Each rank has N x N x N points of the finest grid; coarser grids have half as
 * many a side, as long as that is even, up to LEVELS grids. The iteration ends
 * after MOST rounds, or before, when the residual is TOLERANCE of the first one:
 * then the data decide how many messages there are. TOLERANCE = 0: always MOST.
 *
 * Ranks: any; they make a box of P x Q x R as even as can be. A rank has up to 26
 * neighbours, each with a list of points that it needs and one of points that it gives.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Dims_create,
 *                      MPI_Finalize: 1 each
 *                      MPI_Allreduce 3 + 3 x rounds (8 bytes): SUM, the last MAX
 *                      an exchange: MPI_Irecv, MPI_Send and MPI_Wait once for each
 *                      neighbour, tag = level
 * Exchanges: for each product with the matrix 1 on the finest grid, for each
 * V-cycle on all grids but the coarsest 3, on the coarsest 2 (symmetric
 * Gauss-Seidel twice, and a residual between). Rounds + 1 V-cycles and rounds
 * products are done. Bytes: 8 for each point of a face, an edge or a corner.
 *
 * The solution is 1 everywhere: checked.
 */
#include "counted_calls.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using Vector = std::vector<double>;

struct Place {
    int rank, size;
    int dims[3] = {0, 0, 0};
    int at[3];
};

/* A neighbour, which of our points it needs, and where what it gives is kept. */
struct Neighbour {
    int rank;
    std::vector<int> give;
    int first; /* of the points we get, behind our own */
    int count;
};

/* Which points of which ranks are next to ours, from geometry alone. */
class Halo {
public:
    Halo(const Place &place, int n, int tag) : n_(n), tag_(tag)
    {
        int next = n * n * n;
        for (int direction = 0; direction < 27; direction++) {
            int d[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
            int rank = neighbour_at(place, d);
            first_[direction] = next;
            if (direction == 13 || rank < 0)
                continue;
            Neighbour neighbour{rank, {}, next, 0};
            visit(d, [&](int i, int j, int k) { neighbour.give.push_back((k * n + j) * n + i); });
            neighbour.count = static_cast<int>(neighbour.give.size());
            next += neighbour.count;
            exists_[direction] = true;
            neighbours_.push_back(neighbour);
        }
        size_ = next;
    }

    /* Points of this rank and those it knows of others. */
    int size() const { return size_; }

    /* The number of a point that may lie one beyond the border; -1 if there is none. */
    int index(int i, int j, int k) const
    {
        int d[3] = {side(i), side(j), side(k)};
        int direction = (d[2] + 1) * 9 + (d[1] + 1) * 3 + d[0] + 1;
        if (direction == 13)
            return (k * n_ + j) * n_ + i;
        if (!exists_[direction])
            return -1;
        /* Neighbours give their border in the order of their points, which is that of ours. */
        int number = 0, at[3] = {i, j, k};
        for (int axis = 2; axis >= 0; axis--)
            if (d[axis] == 0)
                number = number * n_ + at[axis];
        return first_[direction] + number;
    }

    void exchange(Vector &x)
    {
        requests_.resize(neighbours_.size());
        for (size_t i = 0; i < neighbours_.size(); i++) {
            const Neighbour &from = neighbours_[i];
            CALL(MPI_Irecv, x.data() + from.first, from.count, MPI_DOUBLE, from.rank, tag_, MPI_COMM_WORLD,
                 &requests_[i]);
            note_receive(from.rank, tag_, from.count * static_cast<long>(sizeof(double)));
        }
        for (const Neighbour &to : neighbours_) {
            packed_.clear();
            for (int point : to.give)
                packed_.push_back(x[point]);
            CALL(MPI_Send, packed_.data(), to.count, MPI_DOUBLE, to.rank, tag_, MPI_COMM_WORLD);
            note_send(to.rank, tag_, to.count * static_cast<long>(sizeof(double)));
        }
        for (MPI_Request &request : requests_)
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    }

private:
    int side(int i) const { return i < 0 ? -1 : i >= n_ ? 1 : 0; }

    static int neighbour_at(const Place &place, const int d[3])
    {
        int rank = 0;
        for (int axis = 2; axis >= 0; axis--) {
            int there = place.at[axis] + d[axis];
            if (there < 0 || there >= place.dims[axis])
                return -1;
            rank = rank * place.dims[axis] + there;
        }
        return rank;
    }

    template <typename Do> void visit(const int d[3], Do what) const
    {
        int low[3], high[3];
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = d[axis] > 0 ? n_ - 1 : 0;
            high[axis] = d[axis] < 0 ? 0 : n_ - 1;
        }
        for (int k = low[2]; k <= high[2]; k++)
            for (int j = low[1]; j <= high[1]; j++)
                for (int i = low[0]; i <= high[0]; i++)
                    what(i, j, k);
    }

    int n_, tag_, size_ = 0;
    bool exists_[27] = {};
    int first_[27] = {};
    std::vector<Neighbour> neighbours_;
    std::vector<MPI_Request> requests_;
    Vector packed_;
};

/* The matrix on one grid: 26 at a point, -1 at each that it touches. Rows as lists of columns. */
class Operator {
public:
    Operator(const Place &place, int n, int level) : halo_(place, n, level), rows_(n * n * n)
    {
        begin_.push_back(0);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    for (int direction = 0; direction < 27; direction++) {
                        int column = halo_.index(i + direction % 3 - 1, j + direction / 3 % 3 - 1,
                                                 k + direction / 9 - 1);
                        if (direction != 13 && column >= 0)
                            columns_.push_back(column);
                    }
                    begin_.push_back(static_cast<int>(columns_.size()));
                }
    }

    int rows() const { return rows_; }
    Vector vector() const { return Vector(halo_.size()); }
    int touching(int row) const { return begin_[row + 1] - begin_[row]; }

    /* y = A x */
    void multiply(Vector &x, Vector &y)
    {
        halo_.exchange(x);
        for (int row = 0; row < rows_; row++)
            y[row] = diagonal * x[row] - around(x, row);
    }

    /* One sweep up and one down, with what other ranks had before. */
    void smooth(const Vector &b, Vector &x)
    {
        halo_.exchange(x);
        for (int row = 0; row < rows_; row++)
            x[row] = (b[row] + around(x, row)) / diagonal;
        for (int row = rows_ - 1; row >= 0; row--)
            x[row] = (b[row] + around(x, row)) / diagonal;
    }

    static constexpr double diagonal = 26;

private:
    double around(const Vector &x, int row) const
    {
        double sum = 0;
        for (int entry = begin_[row]; entry < begin_[row + 1]; entry++)
            sum += x[columns_[entry]];
        return sum;
    }

    Halo halo_;
    int rows_;
    std::vector<int> begin_, columns_;
};

/* A grid and the coarser ones below it: approximately solves A x = b by a V-cycle. */
class Multigrid {
public:
    Multigrid(const Place &place, int n, int levels)
    {
        for (int level = 0; level < levels; level++) {
            grids_.emplace_back(place, n, level);
            if (n % 2 != 0)
                break;
            n /= 2;
        }
        for (size_t level = 1; level < grids_.size(); level++)
            grids_[level].find_coarse_points(grids_[level - 1].n);
    }

    Operator &finest() { return grids_[0].matrix; }
    int levels() const { return static_cast<int>(grids_.size()); }
    void cycle(const Vector &b, Vector &x) { cycle(0, b, x); }

private:
    struct Grid {
        Grid(const Place &place, int points_a_side, int level)
            : n(points_a_side), matrix(place, n, level), x(matrix.vector()), b(matrix.vector()),
              product(matrix.vector())
        {
        }

        void find_coarse_points(int fine)
        {
            for (int k = 0; k < n; k++)
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < n; i++)
                        point_above.push_back((2 * k * fine + 2 * j) * fine + 2 * i);
        }

        int n;
        Operator matrix;
        Vector x, b, product;
        std::vector<int> point_above; /* each point's number on the finer grid */
    };

    void cycle(size_t level, const Vector &b, Vector &x)
    {
        Grid &grid = grids_[level];
        std::fill(x.begin(), x.end(), 0.0);
        grid.matrix.smooth(b, x);
        if (level + 1 < grids_.size()) {
            Grid &coarse = grids_[level + 1];
            grid.matrix.multiply(x, grid.product);
            for (int point = 0; point < coarse.matrix.rows(); point++) {
                int above = coarse.point_above[point];
                coarse.b[point] = b[above] - grid.product[above];
            }
            cycle(level + 1, coarse.b, coarse.x);
            for (int point = 0; point < coarse.matrix.rows(); point++)
                x[coarse.point_above[point]] += coarse.x[point];
        }
        grid.matrix.smooth(b, x);
    }

    std::vector<Grid> grids_;
};

double reduce(double mine, MPI_Op op)
{
    double all = 0;
    CALL(MPI_Allreduce, &mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

double dot(const Vector &x, const Vector &y, int rows)
{
    double mine = 0;
    for (int row = 0; row < rows; row++)
        mine += x[row] * y[row];
    return reduce(mine, MPI_SUM);
}

struct Result {
    int rounds;
    double first, last; /* norms of the residual */
};

/* Preconditioned conjugate gradients from x = 0. */
Result solve(Multigrid &grids, const Vector &b, Vector &x, int most, double tolerance)
{
    Operator &matrix = grids.finest();
    int rows = matrix.rows();
    Vector residual = b, z = matrix.vector(), p = matrix.vector(), product = matrix.vector();
    Result result{0, std::sqrt(dot(b, b, rows)), 0};
    result.last = result.first;
    grids.cycle(residual, z);
    double along = dot(residual, z, rows);
    p = z;
    while (result.rounds < most && result.last > tolerance * result.first) {
        matrix.multiply(p, product);
        double energy = dot(p, product, rows), alpha = energy > 0 ? along / energy : 0;
        for (int row = 0; row < rows; row++) {
            x[row] += alpha * p[row];
            residual[row] -= alpha * product[row];
        }
        result.last = std::sqrt(dot(residual, residual, rows));
        result.rounds++;
        grids.cycle(residual, z);
        double next = dot(residual, z, rows), beta = along > 0 ? next / along : 0;
        along = next;
        for (int row = 0; row < rows; row++)
            p[row] = z[row] + beta * p[row];
    }
    return result;
}

/* Solves, compares with 1 everywhere, prints; gives whether the result is wrong. */
bool run(const Place &place, int n, int most, double tolerance, int levels)
{
    Multigrid grids(place, n, levels);
    Operator &matrix = grids.finest();
    Vector b = matrix.vector(), x = matrix.vector();
    for (int row = 0; row < matrix.rows(); row++)
        b[row] = Operator::diagonal - matrix.touching(row);
    Result result = solve(grids, b, x, most, tolerance);
    double worst = 0;
    for (int row = 0; row < matrix.rows(); row++)
        worst = std::max(worst, std::fabs(x[row] - 1));
    worst = reduce(worst, MPI_MAX);
    /* If it had not the time to converge, it must at least have come nearer in each round. */
    double reached = result.last / result.first;
    bool nearer = reached <= std::max(1e-8, std::pow(0.7, result.rounds));
    bool wrong = !nearer || !(worst <= 1e5 * reached + 1e-12);
    if (place.rank == 0) {
        if (wrong)
            fprintf(stderr, "mgcg: the residual fell to %g, the largest error is %g\n", reached, worst);
        printf("mgcg %dx%dx%d ranks of %d points, %d grids, %d rounds: error below 1e%+.0f, %s\n",
               place.dims[0], place.dims[1], place.dims[2], matrix.rows(), grids.levels(), result.rounds,
               std::ceil(std::log10(worst + 1e-16)), wrong ? "WRONG" : "solved");
    }
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    Place place;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &place.rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &place.size);
    int n = argc > 1 ? atoi(argv[1]) : 8;
    int most = argc > 2 ? atoi(argv[2]) : 50;
    double tolerance = argc > 3 ? atof(argv[3]) : 1e-6;
    int levels = argc > 4 ? atoi(argv[4]) : 3;
    if (n < 2 || levels < 1) {
        fprintf(stderr, "mgcg: N must be 2 or more, LEVELS 1 or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    CALL(MPI_Dims_create, place.size, 3, place.dims);
    place.at[0] = place.rank % place.dims[0];
    place.at[1] = place.rank / place.dims[0] % place.dims[1];
    place.at[2] = place.rank / (place.dims[0] * place.dims[1]);
    bool wrong = run(place, n, most, tolerance, levels);
    CALL(MPI_Finalize);
    write_counts(place.rank);
    return wrong;
}
