/*
 * Atoms between ranks. Along each axis in turn, all that has to go below and
 * above is packed and traded by MPI_Sendrecv; what arrived takes part along the
 * next axes, and so comes to edges and corners by itself. How much arrives is
 * only known by MPI_Get_count.
 */
#include "molecules.h"

/* Trades packed atoms along an axis: away to `to`, in from `from`. Gives the bytes that came in. */
static int trade(struct domain *d, int to, int from, int tag, const void *out, size_t bytes, void *in,
                 size_t room)
{
    MPI_Status status;
    int arrived;
    CALL(MPI_Sendrecv, out, (int)bytes, MPI_BYTE, to, tag, in, (int)room, MPI_BYTE, from, tag, d->grid,
         &status);
    CALL(MPI_Get_count, &status, MPI_BYTE, &arrived);
    note_send(to, tag, (long)bytes);
    note_receive(from, tag, arrived);
    return arrived;
}

/* Packs atoms beyond a border of the domain and forgets them; wraps around the box. */
static int pack_leaving(struct domain *d, int axis, int upward, struct atom *out)
{
    int left = 0, kept = 0;
    for (int i = 0; i < d->count; i++) {
        struct atom atom = d->atoms[i];
        if (upward ? atom.x[axis] >= d->high[axis] : atom.x[axis] < d->low[axis]) {
            if (upward && d->at[axis] == d->dims[axis] - 1)
                atom.x[axis] -= d->box[axis];
            if (!upward && d->at[axis] == 0)
                atom.x[axis] += d->box[axis];
            out[left++] = atom;
        } else {
            d->atoms[kept++] = atom;
        }
    }
    d->count = kept;
    return left;
}

void migrate(struct domain *d)
{
    struct atom *out = malloc(2 * (size_t)d->room * sizeof *out), *in = out + d->room;
    if (!out)
        give_up("no memory for atoms that move on");
    for (int axis = 0; axis < 3; axis++)
        for (int upward = 0; upward < 2; upward++) {
            int to = upward ? d->above[axis] : d->below[axis];
            int from = upward ? d->below[axis] : d->above[axis];
            int leaving = pack_leaving(d, axis, upward, out);
            int bytes = trade(d, to, from, MIGRATE_TAG + 2 * axis + upward, out, leaving * sizeof *out, in,
                              d->room * sizeof *in);
            int arrived = bytes / (int)sizeof *in;
            if (d->count + arrived > d->room)
                give_up("too many atoms came together on one rank");
            memcpy(d->atoms + d->count, in, bytes);
            d->count += arrived;
        }
    free(out);
}

/* Packs where atoms, and copies fetched along earlier axes, are near a border. */
static int pack_near(const struct domain *d, int axis, int upward, int ghosts, struct ghost *out)
{
    double edge = upward ? d->high[axis] - CUTOFF : d->low[axis] + CUTOFF, shift = 0;
    int packed = 0;
    if (upward && d->at[axis] == d->dims[axis] - 1)
        shift = -d->box[axis];
    if (!upward && d->at[axis] == 0)
        shift = d->box[axis];
    for (int i = 0; i < d->count + ghosts; i++) {
        const double *x = i < d->count ? d->atoms[i].x : d->ghosts[i - d->count].x;
        if (upward ? x[axis] < edge : x[axis] >= edge)
            continue;
        memcpy(out[packed].x, x, sizeof out[packed].x);
        out[packed++].x[axis] += shift;
    }
    return packed;
}

void fetch_ghosts(struct domain *d)
{
    struct ghost *out = malloc((size_t)d->room * sizeof *out);
    if (!out)
        give_up("no memory for copies of atoms");
    d->ghost_count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int before = d->ghost_count; /* what came from below need not go on above */
        for (int upward = 0; upward < 2; upward++) {
            int to = upward ? d->above[axis] : d->below[axis];
            int from = upward ? d->below[axis] : d->above[axis];
            int near = pack_near(d, axis, upward, before, out);
            int bytes = trade(d, to, from, HALO_TAG + 2 * axis + upward, out, near * sizeof *out,
                              d->ghosts + d->ghost_count, (d->room - d->ghost_count) * sizeof *out);
            d->ghost_count += bytes / (int)sizeof *out;
        }
    }
    free(out);
}
