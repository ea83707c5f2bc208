/*
 * hydro3d: a blast in a box of gas: explicit Lagrangian hydrodynamics on
 * hexahedra, whose nodes move with the gas.
 *
 *     hydro3d [N=6] [STEPS=10] [END_TIME=0.1]
 *
 * Each rank has N x N x N elements, and all nodes of them: nodes on a border
 * between ranks are on both sides. With STEPS = 0 the run goes on until
 * END_TIME, and how many steps that takes depends on the data; else no step is
 * longer than END_TIME / STEPS. Much later than 0.3 the elements tangle.
 *
 * Ranks: a cube (1, 8, 27, 64, ...). With rank = (z x P + y) x P + x, a rank
 * has up to 26 neighbours: across faces (6), edges (12) and corners (8).
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1
 *                      MPI_Allreduce STEPS + 2: MIN of 8 bytes in each step,
 *                      SUM of 40 bytes before the first and after the last
 *                      MPI_Irecv, MPI_Isend and MPI_Waitall by phase:
 *   phase (= tag)      with whom                      bytes for each node or element
 *   0 masses, once     all neighbours                 8 a node
 *   1 forces           all neighbours                 24 a node
 *   2 motion           to the seven neighbours with   48 a node
 *                      no lower coordinate, from the
 *                      seven with no higher one
 *   3 squeeze          neighbours across faces        8 an element
 * Phases 1 to 3 happen once in each step; MPI_Waitall is called in each phase,
 * also without neighbours (0 requests). A face has (N + 1)^2 nodes and N^2
 * elements, an edge N + 1 nodes, a corner one.
 *
 * Work done by a force is taken from the element that exerts it, so that the
 * sum of kinetic and internal energy stays as it is but for rounding: checked.
 * The blast is in a corner of the box, whose walls are mirrors, so that the
 * momenta along the three axes must stay alike: checked too.
 */
#include "counted_calls.h"

#include <math.h>

enum { MASSES, FORCES, MOTION, SQUEEZE, CORNERS = 8, DIRECTIONS = 27, CENTRE = 13 };

static const double gamma_gas = 1.4, blast_energy = 1, background_energy = 1e-6;
static const double courant = 0.3, growth = 1.1;

struct cube {
    int n, nodes_a_side, nodes, elements; /* of this rank */
    int ranks_a_side, at[3];
    int neighbour[DIRECTIONS]; /* MPI_PROC_NULL where the gas ends */
    double *x, *v, *f;         /* nodes: position, velocity, force; three each */
    double *node_mass;
    double *mass, *energy, *volume, *squeeze; /* elements; squeeze has a layer of ghosts */
    double *out[DIRECTIONS], *in[DIRECTIONS];
};

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "hydro3d: no memory for %zu x %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* Direction 0 to 26 as -1, 0 or 1 along each axis. */
static void way(int direction, int d[3])
{
    d[0] = direction % 3 - 1;
    d[1] = direction / 3 % 3 - 1;
    d[2] = direction / 9 - 1;
}

static int node_at(const struct cube *c, int i, int j, int k)
{
    return (k * c->nodes_a_side + j) * c->nodes_a_side + i;
}

static int ghosted(const struct cube *c, int i, int j, int k)
{
    return ((k + 1) * (c->n + 2) + j + 1) * (c->n + 2) + i + 1;
}

static void corners_of(const struct cube *c, int i, int j, int k, int node[CORNERS])
{
    for (int corner = 0; corner < CORNERS; corner++)
        node[corner] = node_at(c, i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2));
}

static void find_neighbours(struct cube *c, int rank)
{
    int p = c->ranks_a_side;
    c->at[0] = rank % p;
    c->at[1] = rank / p % p;
    c->at[2] = rank / (p * p);
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        int d[3], to = 0, inside = direction != CENTRE;
        way(direction, d);
        for (int axis = 2; axis >= 0; axis--) {
            int there = c->at[axis] + d[axis];
            inside = inside && there >= 0 && there < p;
            to = to * p + there;
        }
        c->neighbour[direction] = inside ? to : MPI_PROC_NULL;
    }
}

/* Nodes of the border towards a direction: copies `values` a node out of or into fields, or adds. */
enum transfer { PACK, ADD, REPLACE };

static int border(const struct cube *c, int direction, double *field, int values, double *buffer,
                  int stride, enum transfer transfer)
{
    int d[3], low[3], high[3], count = 0;
    way(direction, d);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = d[axis] > 0 ? c->n : 0;
        high[axis] = d[axis] < 0 ? 0 : c->n;
    }
    for (int k = low[2]; k <= high[2]; k++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int i = low[0]; i <= high[0]; i++, count++) {
                double *here = field + (size_t)values * node_at(c, i, j, k);
                double *there = buffer + (size_t)stride * count;
                for (int value = 0; value < values; value++) {
                    if (transfer == PACK)
                        there[value] = here[value];
                    else if (transfer == ADD)
                        here[value] += there[value];
                    else
                        here[value] = there[value];
                }
            }
    return count;
}

/* Receives and sends what lies in c->out; `sends` and `receives` choose directions. */
static void trade(struct cube *c, const int *counts, int tag, int (*sends)(const int *),
                  int (*receives)(const int *))
{
    MPI_Request request[2 * DIRECTIONS];
    int requests = 0, d[3];
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        way(direction, d);
        if (c->neighbour[direction] == MPI_PROC_NULL || !receives(d))
            continue;
        CALL(MPI_Irecv, c->in[direction], counts[direction], MPI_DOUBLE, c->neighbour[direction], tag,
             MPI_COMM_WORLD, &request[requests++]);
        note_receive(c->neighbour[direction], tag, counts[direction] * (long)sizeof(double));
    }
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        way(direction, d);
        if (c->neighbour[direction] == MPI_PROC_NULL || !sends(d))
            continue;
        CALL(MPI_Isend, c->out[direction], counts[direction], MPI_DOUBLE, c->neighbour[direction], tag,
             MPI_COMM_WORLD, &request[requests++]);
        note_send(c->neighbour[direction], tag, counts[direction] * (long)sizeof(double));
    }
    CALL(MPI_Waitall, requests, request, MPI_STATUSES_IGNORE);
}

static int any_way(const int d[3])
{
    return d[0] || d[1] || d[2];
}

static int upward(const int d[3])
{
    return any_way(d) && d[0] >= 0 && d[1] >= 0 && d[2] >= 0;
}

static int downward(const int d[3])
{
    return any_way(d) && d[0] <= 0 && d[1] <= 0 && d[2] <= 0;
}

static int across_a_face(const int d[3])
{
    return abs(d[0]) + abs(d[1]) + abs(d[2]) == 1;
}

/* Adds up what the ranks around a node have of it. */
static void sum_over_ranks(struct cube *c, double *field, int values, int tag)
{
    int counts[DIRECTIONS] = {0};
    for (int direction = 0; direction < DIRECTIONS; direction++)
        if (c->neighbour[direction] != MPI_PROC_NULL)
            counts[direction] =
                values * border(c, direction, field, values, c->out[direction], values, PACK);
    trade(c, counts, tag, any_way, any_way);
    for (int direction = 0; direction < DIRECTIONS; direction++)
        if (c->neighbour[direction] != MPI_PROC_NULL)
            border(c, direction, field, values, c->in[direction], values, ADD);
}

/*
 * The ranks around a node add in different orders and round differently. The
 * one with the lowest coordinates is right: faces come first and corners last,
 * so that what it sends stays.
 */
static void agree_on_motion(struct cube *c)
{
    int counts[DIRECTIONS] = {0}, d[3];
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        way(direction, d);
        if (c->neighbour[direction] == MPI_PROC_NULL || (!upward(d) && !downward(d)))
            continue;
        border(c, direction, c->x, 3, c->out[direction], 6, PACK);
        counts[direction] = 6 * border(c, direction, c->v, 3, c->out[direction] + 3, 6, PACK);
    }
    trade(c, counts, MOTION, upward, downward);
    for (int axes = 1; axes <= 3; axes++)
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            way(direction, d);
            if (c->neighbour[direction] == MPI_PROC_NULL || !downward(d) ||
                abs(d[0]) + abs(d[1]) + abs(d[2]) != axes)
                continue;
            border(c, direction, c->x, 3, c->in[direction], 6, REPLACE);
            border(c, direction, c->v, 3, c->in[direction] + 3, 6, REPLACE);
        }
}

/* The layer of elements towards a face: ours (depth 0) out, or the ghosts (depth 1) in. */
static void layer(struct cube *c, const int d[3], double *buffer, int ghosts)
{
    int axis = d[0] ? 0 : d[1] ? 1 : 2, at[3];
    at[axis] = d[axis] > 0 ? c->n - 1 + ghosts : -ghosts;
    for (int a = 0; a < c->n; a++)
        for (int b = 0; b < c->n; b++) {
            at[(axis + 1) % 3] = axis == 1 ? b : a;
            at[(axis + 2) % 3] = axis == 1 ? a : b;
            double *here = &c->squeeze[ghosted(c, at[0], at[1], at[2])];
            if (ghosts)
                *here = *buffer++;
            else
                *buffer++ = *here;
        }
}

static void share_squeeze(struct cube *c)
{
    int counts[DIRECTIONS] = {0}, d[3];
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        way(direction, d);
        if (!across_a_face(d) || c->neighbour[direction] == MPI_PROC_NULL)
            continue;
        counts[direction] = c->n * c->n;
        layer(c, d, c->out[direction], 0);
    }
    trade(c, counts, SQUEEZE, across_a_face, across_a_face);
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        way(direction, d);
        if (across_a_face(d) && c->neighbour[direction] != MPI_PROC_NULL)
            layer(c, d, c->in[direction], 1);
    }
}

static void add_cross(double *to, const double *a, const double *b, double factor)
{
    to[0] += factor * (a[1] * b[2] - a[2] * b[1]);
    to[1] += factor * (a[2] * b[0] - a[0] * b[2]);
    to[2] += factor * (a[0] * b[1] - a[1] * b[0]);
}

/*
 * The volume of an element, and how it grows when a corner moves. Each face is
 * four triangles around its middle; each triangle and the origin make a
 * tetrahedron with a sixth of the product of its three corners.
 */
static double volume_of(const double x[CORNERS][3], double gradient[CORNERS][3])
{
    static const int face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    double volume = 0;
    memset(gradient, 0, CORNERS * sizeof gradient[0]);
    for (int f = 0; f < 6; f++) {
        double middle[3] = {0, 0, 0}, by_middle[3] = {0, 0, 0};
        for (int side = 0; side < 4; side++)
            for (int axis = 0; axis < 3; axis++)
                middle[axis] += x[face[f][side]][axis] / 4;
        for (int side = 0; side < 4; side++) {
            int a = face[f][side], b = face[f][(side + 1) % 4];
            double normal[3] = {0, 0, 0};
            add_cross(normal, x[a], x[b], 1.0 / 6);
            for (int axis = 0; axis < 3; axis++) {
                volume += normal[axis] * middle[axis];
                by_middle[axis] += normal[axis];
            }
            add_cross(gradient[a], x[b], middle, 1.0 / 6);
            add_cross(gradient[b], middle, x[a], 1.0 / 6);
        }
        for (int side = 0; side < 4; side++)
            for (int axis = 0; axis < 3; axis++)
                gradient[face[f][side]][axis] += by_middle[axis] / 4;
    }
    return volume;
}

static double sound(double energy, double mass)
{
    return sqrt(gamma_gas * (gamma_gas - 1) * energy / mass);
}

static void gather(const double *field, const int node[CORNERS], double at[CORNERS][3])
{
    for (int corner = 0; corner < CORNERS; corner++)
        memcpy(at[corner], field + 3 * (size_t)node[corner], sizeof at[corner]);
}

/* The relative rate at which each element is squeezed, 0 where it grows. */
static void find_squeeze(struct cube *c)
{
    memset(c->squeeze, 0, sizeof(double) * (c->n + 2) * (c->n + 2) * (c->n + 2));
    for (int k = 0, e = 0; k < c->n; k++)
        for (int j = 0; j < c->n; j++)
            for (int i = 0; i < c->n; i++, e++) {
                int node[CORNERS];
                double x[CORNERS][3], v[CORNERS][3], gradient[CORNERS][3], rate = 0;
                corners_of(c, i, j, k, node);
                gather(c->x, node, x);
                gather(c->v, node, v);
                c->volume[e] = volume_of(x, gradient);
                for (int corner = 0; corner < CORNERS; corner++)
                    for (int axis = 0; axis < 3; axis++)
                        rate -= gradient[corner][axis] * v[corner][axis];
                c->squeeze[ghosted(c, i, j, k)] = fmax(rate / c->volume[e], 0);
            }
}

/* Pressure, and viscosity where an element and those around it are squeezed. */
static double pressure(const struct cube *c, int e, int i, int j, int k)
{
    double density = c->mass[e] / c->volume[e];
    double around = (c->squeeze[ghosted(c, i - 1, j, k)] + c->squeeze[ghosted(c, i + 1, j, k)] +
                     c->squeeze[ghosted(c, i, j - 1, k)] + c->squeeze[ghosted(c, i, j + 1, k)] +
                     c->squeeze[ghosted(c, i, j, k - 1)] + c->squeeze[ghosted(c, i, j, k + 1)]) / 6;
    double mine = c->squeeze[ghosted(c, i, j, k)];
    /* Less in an element that is squeezed alone: it changes smoothly, lest rounding decides. */
    double jump = cbrt(c->volume[e]) * mine * (0.75 + 0.25 * around / (mine + around + 1e-30));
    return (gamma_gas - 1) * c->energy[e] / c->volume[e] +
           density * jump * (2 * jump + 0.3 * sound(c->energy[e], c->mass[e]));
}

/* The force of one element on its corners: pressure, and a brake on wiggles that change no volume. */
static void element_force(const struct cube *c, int e, int i, int j, int k, double force[CORNERS][3])
{
    static const int wiggle[4][CORNERS] = {{1, -1, -1, 1, 1, -1, -1, 1},
                                           {1, -1, 1, -1, -1, 1, -1, 1},
                                           {1, 1, -1, -1, -1, -1, 1, 1},
                                           {-1, 1, 1, -1, 1, -1, -1, 1}};
    int node[CORNERS];
    double x[CORNERS][3], v[CORNERS][3], gradient[CORNERS][3];
    corners_of(c, i, j, k, node);
    gather(c->x, node, x);
    gather(c->v, node, v);
    volume_of(x, gradient);
    double total = pressure(c, e, i, j, k);
    double brake = 0.03 * c->mass[e] * sound(c->energy[e], c->mass[e]) / cbrt(c->volume[e]);
    for (int corner = 0; corner < CORNERS; corner++)
        for (int axis = 0; axis < 3; axis++)
            force[corner][axis] = total * gradient[corner][axis];
    for (int w = 0; w < 4; w++)
        for (int axis = 0; axis < 3; axis++) {
            double speed = 0;
            for (int corner = 0; corner < CORNERS; corner++)
                speed += wiggle[w][corner] * v[corner][axis] / CORNERS;
            for (int corner = 0; corner < CORNERS; corner++)
                force[corner][axis] -= brake * wiggle[w][corner] * speed;
        }
}

static void find_forces(struct cube *c, double (*element_forces)[CORNERS][3])
{
    memset(c->f, 0, sizeof(double) * 3 * c->nodes);
    for (int k = 0, e = 0; k < c->n; k++)
        for (int j = 0; j < c->n; j++)
            for (int i = 0; i < c->n; i++, e++) {
                int node[CORNERS];
                corners_of(c, i, j, k, node);
                element_force(c, e, i, j, k, element_forces[e]);
                for (int corner = 0; corner < CORNERS; corner++)
                    for (int axis = 0; axis < 3; axis++)
                        c->f[3 * node[corner] + axis] += element_forces[e][corner][axis];
            }
    sum_over_ranks(c, c->f, 3, FORCES);
}

/* Moves the nodes by one step; `halfway` is the velocity in the middle of it. */
static void move(struct cube *c, double dt, double *halfway)
{
    for (int k = 0; k <= c->n; k++)
        for (int j = 0; j <= c->n; j++)
            for (int i = 0; i <= c->n; i++) {
                int at[3] = {i, j, k}, node = node_at(c, i, j, k);
                for (int axis = 0; axis < 3; axis++) {
                    int p = 3 * node + axis, place = c->at[axis] * c->n + at[axis];
                    int wall = place == 0 || place == c->ranks_a_side * c->n;
                    double before = c->v[p];
                    c->v[p] = wall ? 0 : before + dt * c->f[p] / c->node_mass[node];
                    halfway[p] = (before + c->v[p]) / 2;
                    c->x[p] += dt * halfway[p];
                }
            }
}

/* What an element's forces did in a step is taken from its energy. */
static void pay_for_work(struct cube *c, double dt, double (*element_forces)[CORNERS][3],
                         const double *halfway)
{
    for (int k = 0, e = 0; k < c->n; k++)
        for (int j = 0; j < c->n; j++)
            for (int i = 0; i < c->n; i++, e++) {
                int node[CORNERS];
                corners_of(c, i, j, k, node);
                for (int corner = 0; corner < CORNERS; corner++)
                    for (int axis = 0; axis < 3; axis++)
                        c->energy[e] -=
                            dt * element_forces[e][corner][axis] * halfway[3 * node[corner] + axis];
            }
}

/* The longest step that is stable in all elements of all ranks. */
static double next_step(struct cube *c, double last, double longest)
{
    double mine = fmin(longest, last > 0 ? growth * last : 1e-4), everybody;
    for (int k = 0, e = 0; k < c->n; k++)
        for (int j = 0; j < c->n; j++)
            for (int i = 0; i < c->n; i++, e++) {
                double length = cbrt(c->volume[e]), squeeze = c->squeeze[ghosted(c, i, j, k)];
                double speed = sound(c->energy[e], c->mass[e]) + 4 * length * squeeze;
                mine = fmin(mine, courant * length / speed);
            }
    CALL(MPI_Allreduce, &mine, &everybody, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return everybody;
}

/* Internal energy, kinetic energy and momentum of all ranks; nodes that are shared count once. */
static void add_up(const struct cube *c, double sums[5])
{
    double mine[5] = {0};
    for (int e = 0; e < c->elements; e++)
        mine[0] += c->energy[e];
    for (int k = c->at[2] > 0; k <= c->n; k++)
        for (int j = c->at[1] > 0; j <= c->n; j++)
            for (int i = c->at[0] > 0; i <= c->n; i++) {
                int node = node_at(c, i, j, k);
                for (int axis = 0; axis < 3; axis++) {
                    double v = c->v[3 * node + axis];
                    mine[1] += c->node_mass[node] * v * v / 2;
                    mine[2 + axis] += c->node_mass[node] * v;
                }
            }
    CALL(MPI_Allreduce, mine, sums, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void begin(struct cube *c)
{
    double width = 1.0 / (c->n * c->ranks_a_side);
    c->nodes_a_side = c->n + 1;
    c->nodes = c->nodes_a_side * c->nodes_a_side * c->nodes_a_side;
    c->elements = c->n * c->n * c->n;
    c->x = zeros(3 * c->nodes, sizeof(double));
    c->v = zeros(3 * c->nodes, sizeof(double));
    c->f = zeros(3 * c->nodes, sizeof(double));
    c->node_mass = zeros(c->nodes, sizeof(double));
    c->mass = zeros(c->elements, sizeof(double));
    c->energy = zeros(c->elements, sizeof(double));
    c->volume = zeros(c->elements, sizeof(double));
    c->squeeze = zeros((size_t)(c->n + 2) * (c->n + 2) * (c->n + 2), sizeof(double));
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        size_t most = 6 * (size_t)c->nodes_a_side * c->nodes_a_side;
        c->out[direction] = zeros(most, sizeof(double));
        c->in[direction] = zeros(most, sizeof(double));
    }
    for (int k = 0; k <= c->n; k++)
        for (int j = 0; j <= c->n; j++)
            for (int i = 0; i <= c->n; i++) {
                int at[3] = {i, j, k};
                for (int axis = 0; axis < 3; axis++)
                    c->x[3 * node_at(c, i, j, k) + axis] = width * (c->at[axis] * c->n + at[axis]);
            }
    for (int k = 0, e = 0; k < c->n; k++)
        for (int j = 0; j < c->n; j++)
            for (int i = 0; i < c->n; i++, e++) {
                int node[CORNERS];
                c->mass[e] = c->volume[e] = width * width * width;
                c->energy[e] = background_energy * c->mass[e];
                corners_of(c, i, j, k, node);
                for (int corner = 0; corner < CORNERS; corner++)
                    c->node_mass[node[corner]] += c->mass[e] / CORNERS;
            }
    if (c->at[0] + c->at[1] + c->at[2] == 0)
        c->energy[0] = blast_energy * width;
    sum_over_ranks(c, c->node_mass, 1, MASSES);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct cube c = {0};
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    c.n = argc > 1 ? atoi(argv[1]) : 6;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    double end = argc > 3 ? atof(argv[3]) : 0.1;
    while (c.ranks_a_side * c.ranks_a_side * c.ranks_a_side < size)
        c.ranks_a_side++;
    if (c.ranks_a_side * c.ranks_a_side * c.ranks_a_side != size || c.n * c.ranks_a_side < 2) {
        if (rank == 0)
            fprintf(stderr, "hydro3d: needs a cube of ranks (1, 8, 27, ...) and two elements a side\n");
        CALL(MPI_Finalize);
        return 2;
    }
    find_neighbours(&c, rank);
    begin(&c);
    double(*element_forces)[CORNERS][3] = zeros(c.elements, sizeof *element_forces);
    double *halfway = zeros(3 * c.nodes, sizeof(double));

    double first[5], last[5], now = 0, dt = 0;
    int step = 0;
    add_up(&c, first);
    while (steps > 0 ? step < steps : now < end) {
        find_squeeze(&c);
        share_squeeze(&c);
        dt = next_step(&c, dt, end / (steps > 0 ? steps : 1));
        if (steps == 0 && now + dt > end)
            dt = end - now;
        find_forces(&c, element_forces);
        move(&c, dt, halfway);
        pay_for_work(&c, dt, element_forces, halfway);
        agree_on_motion(&c);
        now = steps == 0 && now + dt >= end ? end : now + dt;
        step++;
    }
    add_up(&c, last);

    double energy = first[0] + first[1], drift = fabs(last[0] + last[1] - energy) / energy;
    double apart = fmax(fabs(last[2] - last[3]), fabs(last[3] - last[4])) / fmax(fabs(last[2]), 1e-30);
    int wrong = !(drift < 1e-11) || !(apart < 1e-9) || !(last[1] > 0) || !(last[0] > 0);
    if (rank == 0) {
        if (wrong)
            fprintf(stderr, "hydro3d: energy changed by %g, momenta differ by %g of themselves\n",
                    drift, apart);
        printf("hydro3d %d elements a rank, %d steps to %.6g: energy %.9g of which %.6g%% moves, %s\n",
               c.elements, step, now, energy, 100 * last[1] / energy, wrong ? "WRONG" : "conserved");
    }
    free(element_forces);
    free(halfway);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
