/*
 * stencil2d: Jacobi iterations on a square plate, cut into blocks of n x n.
 *
 *     stencil2d [N=64] [ITERATIONS=50] [EXTRA_US=0]
 *
 * The top edge of the plate is held at 1, the others at 0. Rows of the halo are
 * contiguous, columns are an MPI_Type_vector. EXTRA_US is compute added to each
 * iteration: the rank spins until that many microseconds of a monotonic clock
 * have passed, so the added time is known whatever else the machine does.
 *
 * Calls of each rank:  MPI_Init, MPI_Dims_create, MPI_Cart_create,
 *                      MPI_Type_vector, MPI_Type_commit, MPI_Type_free,
 *                      MPI_Comm_free, MPI_Reduce, MPI_Finalize: 1 each
 *                      MPI_Comm_rank 2, MPI_Comm_size 1, MPI_Cart_shift 2,
 *                      MPI_Irecv 4 x ITERATIONS, MPI_Isend 4 x ITERATIONS,
 *                      MPI_Waitall ITERATIONS, MPI_Allreduce ITERATIONS (8 bytes)
 * Messages per iteration: 8 x N bytes to and from each of up to four
 * neighbours; the tag is the direction of travel (0 up, 1 down, 2 left,
 * 3 right). At the border of the plate the peer is MPI_PROC_NULL.
 * With P x Q = dims and rank = row x Q + column: up is rank - Q, left rank - 1.
 */
#include "counted_calls.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

enum { UP, DOWN, LEFT, RIGHT, DIRECTIONS };

static const int opposite[DIRECTIONS] = {DOWN, UP, RIGHT, LEFT};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void spin(double microseconds)
{
    if (microseconds <= 0)
        return;
    double deadline = seconds() + 1e-6 * microseconds;
    while (seconds() < deadline)
        ;
}

/* One sweep of the block's inner points; gives the largest change of a point. */
static double relax(const double *old, double *new, int n)
{
    int width = n + 2;
    double largest = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int p = i * width + j;
            new[p] = 0.25 * (old[p - width] + old[p + width] + old[p - 1] + old[p + 1]);
            largest = fmax(largest, fabs(new[p] - old[p]));
        }
    return largest;
}

static void exchange(double *u, int n, const int *neighbour, MPI_Datatype column, MPI_Comm plate)
{
    int width = n + 2;
    /* Where the outer ring (received) and the edge (sent) of each side begin. */
    double *ring[DIRECTIONS] = {u + 1, u + (n + 1) * width + 1, u + width, u + width + n + 1};
    double *edge[DIRECTIONS] = {u + width + 1, u + n * width + 1, u + width + 1, u + width + n};
    MPI_Request request[2 * DIRECTIONS];
    for (int side = 0; side < DIRECTIONS; side++) {
        int count = side < LEFT ? n : 1;
        MPI_Datatype type = side < LEFT ? MPI_DOUBLE : column;
        /* What comes in at the upper side travels down. */
        CALL(MPI_Irecv, ring[side], count, type, neighbour[side], opposite[side], plate,
             &request[side]);
        note_receive(neighbour[side], opposite[side], n * (long)sizeof(double));
    }
    for (int side = 0; side < DIRECTIONS; side++) {
        int count = side < LEFT ? n : 1;
        MPI_Datatype type = side < LEFT ? MPI_DOUBLE : column;
        CALL(MPI_Isend, edge[side], count, type, neighbour[side], side, plate,
             &request[DIRECTIONS + side]);
        note_send(neighbour[side], side, n * (long)sizeof(double));
    }
    CALL(MPI_Waitall, 2 * DIRECTIONS, request, MPI_STATUSES_IGNORE);
}

/* The sum of all bit patterns: the same in whatever order it is taken. */
static uint64_t checksum(const double *u, int n)
{
    uint64_t sum = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            uint64_t bits;
            memcpy(&bits, &u[i * (n + 2) + j], sizeof bits);
            sum += bits;
        }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, plate_rank;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 64;
    int iterations = argc > 2 ? atoi(argv[2]) : 50;
    double extra = argc > 3 ? atof(argv[3]) : 0;

    int dims[2] = {0, 0}, periods[2] = {0, 0}, neighbour[DIRECTIONS];
    MPI_Comm plate;
    CALL(MPI_Dims_create, size, 2, dims);
    /* No reordering: a rank of the plate is a rank of MPI_COMM_WORLD. */
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, 0, &plate);
    CALL(MPI_Comm_rank, plate, &plate_rank);
    CALL(MPI_Cart_shift, plate, 0, 1, &neighbour[UP], &neighbour[DOWN]);
    CALL(MPI_Cart_shift, plate, 1, 1, &neighbour[LEFT], &neighbour[RIGHT]);
    MPI_Datatype column;
    CALL(MPI_Type_vector, n, 1, n + 2, MPI_DOUBLE, &column);
    CALL(MPI_Type_commit, &column);

    size_t points = (size_t)(n + 2) * (n + 2);
    double *old = calloc(points, sizeof *old), *new = calloc(points, sizeof *new);
    if (neighbour[UP] == MPI_PROC_NULL)
        for (int j = 0; j < n + 2; j++)
            old[j] = new[j] = 1;

    double residual = 0, previous = INFINITY;
    int wrong = plate_rank != rank;
    for (int i = 0; i < iterations; i++) {
        exchange(old, n, neighbour, column, plate);
        double mine = relax(old, new, n);
        spin(extra);
        CALL(MPI_Allreduce, &mine, &residual, 1, MPI_DOUBLE, MPI_MAX, plate);
        /* The largest change of a Jacobi iteration never grows. */
        wrong |= !(residual <= previous && residual > 0);
        previous = residual;
        double *swap = old;
        old = new;
        new = swap;
    }

    uint64_t mine = checksum(old, n), total = 0;
    CALL(MPI_Reduce, &mine, &total, 1, MPI_UINT64_T, MPI_SUM, 0, plate);
    if (wrong)
        fprintf(stderr, "stencil2d: rank %d: the iteration does not converge\n", rank);
    else if (rank == 0)
        printf("stencil2d %dx%d blocks of %d iterations %d residual %.17g checksum %016llx\n",
               dims[0], dims[1], n, iterations, residual, (unsigned long long)total);
    free(old);
    free(new);
    CALL(MPI_Type_free, &column);
    CALL(MPI_Comm_free, &plate);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
