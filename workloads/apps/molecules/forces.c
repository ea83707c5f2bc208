/*
 * Forces between atoms closer than CUTOFF: the Lennard-Jones potential, moved
 * up so that it ends at 0. Atoms and ghosts are sorted into cells not smaller
 * than CUTOFF, so that only cells that touch can have a pair.
 */
#include "molecules.h"

#include <math.h>

struct cells {
    int side[3];   /* cells along each axis, with a layer of ghosts around */
    double width[3];
    int *first;    /* of each cell: an atom or ghost, -1 if empty */
    int *next;     /* of each atom and ghost: the next one in the cell */
};

static const double *place_of(const struct domain *d, int i)
{
    return i < d->count ? d->atoms[i].x : d->ghosts[i - d->count].x;
}

static int cell_of(const struct domain *d, const struct cells *c, const double *x)
{
    int index = 0;
    for (int axis = 2; axis >= 0; axis--) {
        int at = (int)floor((x[axis] - d->low[axis]) / c->width[axis]) + 1;
        /* A ghost may be further away by rounding. */
        at = at < 0 ? 0 : at >= c->side[axis] ? c->side[axis] - 1 : at;
        index = index * c->side[axis] + at;
    }
    return index;
}

static void sort_into_cells(const struct domain *d, struct cells *c)
{
    size_t cells = 1;
    for (int axis = 0; axis < 3; axis++) {
        int inside = (int)((d->high[axis] - d->low[axis]) / CUTOFF);
        c->side[axis] = inside + 2;
        c->width[axis] = (d->high[axis] - d->low[axis]) / inside;
        cells *= c->side[axis];
    }
    int all = d->count + d->ghost_count;
    c->first = malloc(cells * sizeof *c->first);
    c->next = malloc((all + 1) * sizeof *c->next);
    if (!c->first || !c->next)
        give_up("no memory for link cells");
    for (size_t cell = 0; cell < cells; cell++)
        c->first[cell] = -1;
    for (int i = all - 1; i >= 0; i--) {
        int cell = cell_of(d, c, place_of(d, i));
        c->next[i] = c->first[cell];
        c->first[cell] = i;
    }
}

/* Adds the force of all atoms in a cell on one atom; gives half the energy of these pairs. */
static double force_of_cell(const struct domain *d, const struct cells *c, int cell, int i, double force[3])
{
    const double end = pow(CUTOFF, -6), lift = 4 * (end - end * end);
    double energy = 0;
    for (int j = c->first[cell]; j >= 0; j = c->next[j]) {
        if (j == i)
            continue;
        double way[3], square = 0;
        const double *there = place_of(d, j);
        for (int axis = 0; axis < 3; axis++) {
            way[axis] = d->atoms[i].x[axis] - there[axis];
            square += way[axis] * way[axis];
        }
        if (square >= CUTOFF * CUTOFF)
            continue;
        double inverse = 1 / square, sixth = inverse * inverse * inverse;
        double push = 24 * inverse * sixth * (2 * sixth - 1);
        for (int axis = 0; axis < 3; axis++)
            force[axis] += push * way[axis];
        energy += 0.5 * (4 * sixth * (sixth - 1) + lift);
    }
    return energy;
}

double find_forces(struct domain *d)
{
    struct cells c;
    double energy = 0;
    sort_into_cells(d, &c);
    for (int i = 0; i < d->count; i++) {
        int home = cell_of(d, &c, d->atoms[i].x);
        memset(d->force[i], 0, sizeof d->force[i]);
        for (int k = -1; k <= 1; k++)
            for (int j = -1; j <= 1; j++)
                for (int l = -1; l <= 1; l++)
                    energy += force_of_cell(d, &c, home + (k * c.side[1] + j) * c.side[0] + l, i,
                                            d->force[i]);
    }
    free(c.first);
    free(c.next);
    return energy;
}
