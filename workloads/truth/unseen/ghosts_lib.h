/* Ghosts of an array: width at each end of it, around inner numbers. */
#ifndef GHOSTS_LIB_H
#define GHOSTS_LIB_H

#include <mpi.h>
#include <stdlib.h>

struct ghosts {
    MPI_Comm comm;
    MPI_Win window;
    int left, right, inner, width, keep;
    double *field;
};

struct ghosts *ghosts_make(double *field, int inner, int width, MPI_Comm comm, int keep);
void ghosts_update(struct ghosts *ghosts);
void ghosts_free(struct ghosts *ghosts);

#endif
