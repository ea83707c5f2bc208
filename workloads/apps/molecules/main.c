/*
 * molecules: molecular dynamics of Lennard-Jones atoms in a periodic box.
 *
 *     molecules [CELLS=2] [STEPS=10] [EVERY=5] [SPEED=1.2]
 *
 * Each rank begins with CELLS^3 cubes of a crystal with four atoms each (at
 * least 2: its part of the box must be as wide as forces reach). SPEED is how
 * fast atoms are at first. In each step atoms that left a rank's part of the
 * box move on to the rank they came to, and copies of atoms near borders are
 * fetched: how many, and so how long the messages are, depends on the data.
 * Energies are added up before the first and after each EVERY-th and the last step.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Dims_create,
 *                      MPI_Cart_create, MPI_Cart_coords, MPI_Comm_free,
 *                      MPI_Finalize: 1 each, MPI_Cart_shift 3
 *                      MPI_Sendrecv 12 x STEPS + 6, MPI_Get_count as often
 *                      MPI_Allreduce 2 + STEPS / EVERY (rounded up): SUM of 48
 *                      bytes, the first time of 32
 * Messages: in each step, along each of three axes, below and above:
 * 56 bytes for each atom that moves on (tags 10 to 15), 24 for each copy (tags
 * 20 to 25). In a dimension with one rank it sends them to itself.
 *
 * The total energy must not change by more than a thousandth of what moves at
 * first, the momentum must stay 0, and no atom may be lost: checked.
 */
#include "molecules.h"

#include <math.h>

static const double density = 0.8442, step_length = 0.002;

void give_up(const char *why)
{
    fprintf(stderr, "molecules: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* A number in -0.5 to 0.5 that looks like chance and is the same everywhere. */
static double scattered(unsigned long id, unsigned long axis)
{
    unsigned long long h = (id * 3 + axis + 1) * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull;
    h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
    return (double)((h ^ (h >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

static void divide_box(struct domain *d, int size, int cells)
{
    int periods[3] = {1, 1, 1};
    double cube = cbrt(4 / density);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &d->rank);
    CALL(MPI_Dims_create, size, 3, d->dims);
    /* No reordering: a rank of the grid is a rank of MPI_COMM_WORLD. */
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 3, d->dims, periods, 0, &d->grid);
    CALL(MPI_Cart_coords, d->grid, d->rank, 3, d->at);
    for (int axis = 0; axis < 3; axis++) {
        CALL(MPI_Cart_shift, d->grid, axis, 1, &d->below[axis], &d->above[axis]);
        d->box[axis] = cube * cells * d->dims[axis];
        d->low[axis] = cube * cells * d->at[axis];
        d->high[axis] = d->at[axis] == d->dims[axis] - 1 ? d->box[axis] : cube * cells * (d->at[axis] + 1);
    }
    /* Atoms of this rank and all around it within reach, and some more. */
    double reach = cube * cells + 2 * CUTOFF + 1;
    d->room = (int)(2 * density * reach * reach * reach);
    d->atoms = malloc(d->room * sizeof *d->atoms);
    d->ghosts = malloc(d->room * sizeof *d->ghosts);
    d->force = malloc(d->room * sizeof *d->force);
    if (!d->atoms || !d->ghosts || !d->force)
        give_up("no memory for atoms");
}

static void make_crystal(struct domain *d, int cells, double speed)
{
    static const double corner[4][3] = {
        {0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}};
    double cube = cbrt(4 / density), mine[4] = {0}, all[4];
    for (int k = 0; k < cells; k++)
        for (int j = 0; j < cells; j++)
            for (int i = 0; i < cells; i++)
                for (int a = 0; a < 4; a++) {
                    int at[3] = {i + cells * d->at[0], j + cells * d->at[1], k + cells * d->at[2]};
                    struct atom *atom = &d->atoms[d->count++];
                    long row = (long)at[2] * d->dims[1] * cells + at[1];
                    atom->id = (row * d->dims[0] * cells + at[0]) * 4 + a;
                    for (int axis = 0; axis < 3; axis++) {
                        atom->x[axis] = cube * (at[axis] + corner[a][axis]);
                        /* Evenly spread between -s and s: its square is s^2 / 3 on average. */
                        atom->v[axis] = speed * sqrt(12) * scattered(atom->id, axis);
                        mine[axis] += atom->v[axis];
                    }
                    mine[3]++;
                }
    CALL(MPI_Allreduce, mine, all, 4, MPI_DOUBLE, MPI_SUM, d->grid);
    for (int i = 0; i < d->count; i++)
        for (int axis = 0; axis < 3; axis++)
            d->atoms[i].v[axis] -= all[axis] / all[3];
}

/* Potential energy, kinetic energy, number of atoms and momentum of all ranks. */
enum { POTENTIAL, KINETIC, ATOMS, MOMENTUM, SUMS = MOMENTUM + 3 };

static void add_up(const struct domain *d, double potential, double sums[SUMS])
{
    double mine[SUMS] = {potential, 0, d->count, 0, 0, 0};
    for (int i = 0; i < d->count; i++)
        for (int axis = 0; axis < 3; axis++) {
            mine[KINETIC] += d->atoms[i].v[axis] * d->atoms[i].v[axis] / 2;
            mine[MOMENTUM + axis] += d->atoms[i].v[axis];
        }
    CALL(MPI_Allreduce, mine, sums, SUMS, MPI_DOUBLE, MPI_SUM, d->grid);
}

static void kick(struct domain *d)
{
    for (int i = 0; i < d->count; i++)
        for (int axis = 0; axis < 3; axis++)
            d->atoms[i].v[axis] += step_length / 2 * d->force[i][axis];
}

static double step(struct domain *d)
{
    kick(d);
    for (int i = 0; i < d->count; i++)
        for (int axis = 0; axis < 3; axis++)
            d->atoms[i].x[axis] += step_length * d->atoms[i].v[axis];
    migrate(d);
    fetch_ghosts(d);
    double potential = find_forces(d);
    kick(d);
    return potential;
}

/* How much of the first kinetic energy the total energy has changed by. */
static double drift(const double first[SUMS], const double now[SUMS])
{
    return fabs(now[POTENTIAL] + now[KINETIC] - first[POTENTIAL] - first[KINETIC]) / first[KINETIC];
}

/* Prints the result; gives whether it is wrong. */
static int judge(const struct domain *d, double atoms, int steps, double worst, const double last[SUMS])
{
    double momentum = fabs(last[MOMENTUM]) + fabs(last[MOMENTUM + 1]) + fabs(last[MOMENTUM + 2]);
    int wrong = !(worst < 1e-3) || last[ATOMS] != atoms || !(momentum < 1e-9 * atoms);
    if (d->rank != 0)
        return wrong;
    if (wrong)
        fprintf(stderr, "molecules: energy changed by %g, momentum is %g, %.0f of %.0f atoms are left\n",
                worst, momentum, last[ATOMS], atoms);
    printf("molecules %dx%dx%d ranks, %.0f atoms, %d steps: energy %.8g, temperature %.6g, %s\n",
           d->dims[0], d->dims[1], d->dims[2], atoms, steps, last[POTENTIAL] + last[KINETIC],
           2 * last[KINETIC] / (3 * atoms), wrong ? "WRONG" : "conserved");
    return wrong;
}

int main(int argc, char **argv)
{
    int size;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int cells = argc > 1 ? atoi(argv[1]) : 2;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    int every = argc > 3 ? atoi(argv[3]) : 5;
    double speed = argc > 4 ? atof(argv[4]) : 1.2;
    if (cells < 2 || every < 1)
        give_up("CELLS must be 2 or more, and EVERY 1 or more");

    struct domain d = {0};
    divide_box(&d, size, cells);
    make_crystal(&d, cells, speed);
    fetch_ghosts(&d);
    double first[SUMS], now[SUMS], potential = find_forces(&d), worst = 0;
    add_up(&d, potential, first);
    memcpy(now, first, sizeof now);
    for (int i = 1; i <= steps; i++) {
        potential = step(&d);
        if (i % every == 0 || i == steps) {
            add_up(&d, potential, now);
            worst = fmax(worst, drift(first, now));
        }
    }

    int wrong = judge(&d, 4.0 * cells * cells * cells * size, steps, worst, now);
    free(d.atoms);
    free(d.ghosts);
    free(d.force);
    CALL(MPI_Comm_free, &d.grid);
    CALL(MPI_Finalize);
    write_counts(d.rank);
    return wrong;
}
