/*
 * molecules: molecular dynamics. What it does, its arguments and its calls are
 * in main.c; this is what its files share.
 *
 *   main.c      the run, the first state, energies, the check
 *   exchange.c  atoms that move to other ranks, and copies of those near borders
 *   forces.c    link cells and the forces between atoms
 *
 * Lengths are in diameters of an atom, energies in depths of the potential.
 */
#ifndef MOLECULES_H
#define MOLECULES_H

#include "counted_calls.h"

#define CUTOFF 2.5

enum { MIGRATE_TAG = 10, HALO_TAG = 20 };

struct atom {
    double x[3], v[3];
    long id;
};

/* A copy of an atom of another rank: nobody needs to know how fast it is. */
struct ghost {
    double x[3];
};

struct domain {
    MPI_Comm grid;
    int rank;
    int dims[3], at[3];
    int below[3], above[3]; /* ranks */
    double box[3];          /* the whole, periodic box */
    double low[3], high[3]; /* this rank's part of it */
    struct atom *atoms;
    struct ghost *ghosts;
    double (*force)[3];
    int count, ghost_count, room;
};

/* Hands atoms that left the domain over to the ranks whose they are now. */
void migrate(struct domain *d);

/* Fetches copies of all atoms of other ranks that are near enough to act on ours. */
void fetch_ghosts(struct domain *d);

/* Works out the force on each atom of this rank; gives its share of the potential energy. */
double find_forces(struct domain *d);

/* Says what is wrong and ends the run. */
void give_up(const char *why);

#endif /* MOLECULES_H */
