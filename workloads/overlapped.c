/*
 * overlapped: programs whose messages are on their way while ranks compute, to predict runs with more ranks from runs
 * with fewer. No call waits for a message, so no run shows what one takes.
 *
 *     overlapped SHAPE [MICROSECONDS] [STEPS=20]
 *
 *     sum4        halo of a 2-D grid, its interior meanwhile, and a sum every fourth step       (64000/ranks)
 *     alone       the same without the sum                                                      (64000/ranks)
 *     after       the interior after the halo, and a sum every fourth step                      (64000/ranks)
 *     isum        halo of a ring, then a non-blocking sum, and work meanwhile                   (64000/ranks)
 *     ibcast      a non-blocking broadcast and work meanwhile                                 (64000/ranks)
 *     persistent  halo of a 2-D grid by persistent requests, its interior meanwhile             (64000/ranks)
 *     levels      three grids, each a quarter of the one before, with half its work             (64000/ranks)
 *     ring        halo of a ring, work meanwhile, and a sum: as long on every number of ranks   (6000)
 *
 * Work is a sleep of MICROSECONDS per step. It takes no core, and under SimGrid, whose compiler replaces nanosleep, it is
 * simulated time and exact. Each rank checks what it receives.
 */
#include "truth/truth.h"

enum { DOUBLES = 100, SIDES = 4 };

static int rank, ranks, steps;
static double microseconds;
static double given[SIDES][16 * DOUBLES], taken[SIDES][16 * DOUBLES];
static int neighbour[SIDES], sides;
static MPI_Comm grid;

static void check(int wrong, const char *what)
{
    if (wrong) {
        fprintf(stderr, "overlapped: rank %d: %s is wrong\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void sum(void)
{
    double one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    check(all != ranks, "the sum");
}

/* Ranks in a ring (of 1 dimension) or on a torus (of 2). */
static void lay_out(int dimensions)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Dims_create(ranks, dimensions, dims);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &grid);
    sides = 2 * dimensions;
    for (int way = 0; way < dimensions; way++)
        MPI_Cart_shift(grid, way, 1, &neighbour[2 * way], &neighbour[2 * way + 1]);
    for (int side = 0; side < sides; side++)
        given[side][0] = rank;
}

static void begin(MPI_Request *requests, int doubles, int level)
{
    for (int side = 0; side < sides; side++)
        MPI_Irecv(taken[side], doubles, MPI_DOUBLE, neighbour[side], 8 * level + side, grid, &requests[side]);
    for (int side = 0; side < sides; side++)
        MPI_Isend(given[side], doubles, MPI_DOUBLE, neighbour[side], 8 * level + (side ^ 1), grid,
                  &requests[sides + side]);
}

static void end(MPI_Request *requests)
{
    MPI_Waitall(2 * sides, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < sides; side++)
        check(taken[side][0] != neighbour[side], "the halo");
}

static void halos(int meanwhile, int sums_every)
{
    MPI_Request requests[2 * SIDES];
    lay_out(2);
    for (int step = 0; step < steps; step++) {
        begin(requests, DOUBLES, 0);
        if (meanwhile)
            work_us(microseconds);
        end(requests);
        if (!meanwhile)
            work_us(microseconds);
        if (sums_every && step % sums_every == sums_every - 1)
            sum();
    }
}

static void sum4(void) { halos(1, 4); }
static void alone(void) { halos(1, 0); }
static void after(void) { halos(0, 4); }

static void isum(void)
{
    MPI_Request requests[2 * SIDES], request;
    lay_out(1);
    for (int step = 0; step < steps; step++) {
        begin(requests, DOUBLES, 0);
        work_us(microseconds / 2);
        end(requests);
        double one = 1, all = 0;
        MPI_Iallreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, grid, &request);
        work_us(microseconds / 2);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(all != ranks, "the sum");
    }
}

static void ibcast(void)
{
    MPI_Request request;
    lay_out(1);
    for (int step = 0; step < steps; step++) {
        double root = rank;
        MPI_Ibcast(&root, 1, MPI_DOUBLE, 0, grid, &request);
        work_us(microseconds);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(root != 0, "the broadcast");
    }
}

static void persistent(void)
{
    MPI_Request requests[2 * SIDES];
    lay_out(2);
    for (int side = 0; side < sides; side++) {
        MPI_Recv_init(taken[side], DOUBLES, MPI_DOUBLE, neighbour[side], side, grid, &requests[side]);
        MPI_Send_init(given[side], DOUBLES, MPI_DOUBLE, neighbour[side], side ^ 1, grid, &requests[sides + side]);
    }
    for (int step = 0; step < steps; step++) {
        MPI_Startall(2 * sides, requests);
        work_us(microseconds);
        end(requests);
    }
    for (int request = 0; request < 2 * sides; request++)
        MPI_Request_free(&requests[request]);
}

static void levels(void)
{
    MPI_Request requests[2 * SIDES];
    lay_out(1);
    for (int step = 0; step < steps; step++)
        for (int level = 0; level < 3; level++) {
            begin(requests, 16 * DOUBLES >> 2 * level, level);
            work_us(microseconds / (1 << level));
            end(requests);
        }
}

static void ring(void)
{
    MPI_Request requests[2 * SIDES];
    lay_out(1);
    for (int step = 0; step < steps; step++) {
        begin(requests, DOUBLES, 0);
        work_us(microseconds);
        end(requests);
        sum();
    }
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
        int whole;
    } shapes[] = {{"sum4", sum4, 0},     {"alone", alone, 0},           {"after", after, 0},   {"isum", isum, 0},
                  {"ibcast", ibcast, 0}, {"persistent", persistent, 0}, {"levels", levels, 0}, {"ring", ring, 6000}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        if (argc > 1 && strcmp(argv[1], shapes[shape].name) == 0) {
            double usual = shapes[shape].whole ? shapes[shape].whole : 64000.0 / ranks;
            microseconds = argc > 2 && atof(argv[2]) > 0 ? atof(argv[2]) : usual;
            steps = argc > 3 ? atoi(argv[3]) : 20;
            shapes[shape].run();
            MPI_Comm_free(&grid);
            if (rank == 0)
                printf("overlapped: %d steps of %s checked\n", steps, shapes[shape].name);
            MPI_Finalize();
            return 0;
        }
    if (rank == 0)
        fprintf(stderr, "overlapped: say sum4, alone, after, isum, ibcast, persistent, levels or ring\n");
    MPI_Finalize();
    return 2;
}
