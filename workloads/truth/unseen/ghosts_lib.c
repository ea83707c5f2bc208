/* What ghosts.c uses. Updates ghosts of an array in a ring of ranks by puts. */
#include "ghosts_lib.h"

struct ghosts *ghosts_make(double *field, int inner, int width, MPI_Comm comm, int keep)
{
    struct ghosts *ghosts = calloc(1, sizeof *ghosts);
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *ghosts = (struct ghosts){comm, MPI_WIN_NULL, (rank + ranks - 1) % ranks, (rank + 1) % ranks, inner, width, keep, field};
    return ghosts;
}

static void attach(struct ghosts *ghosts)
{
    MPI_Aint bytes = (MPI_Aint)(ghosts->inner + 2 * ghosts->width) * (MPI_Aint)sizeof(double);
    MPI_Win_create(ghosts->field, bytes, sizeof(double), MPI_INFO_NULL, ghosts->comm, &ghosts->window); /* the place */
}

void ghosts_update(struct ghosts *ghosts)
{
    int width = ghosts->width;
    if (ghosts->window == MPI_WIN_NULL)
        attach(ghosts); /* the place */
    MPI_Win_fence(0, ghosts->window);
    MPI_Put(ghosts->field + ghosts->inner, width, MPI_DOUBLE, ghosts->right, 0, width, MPI_DOUBLE, ghosts->window);
    MPI_Put(ghosts->field + width, width, MPI_DOUBLE, ghosts->left, ghosts->inner + width, width, MPI_DOUBLE, ghosts->window);
    MPI_Win_fence(0, ghosts->window);
    if (!ghosts->keep)
        MPI_Win_free(&ghosts->window); /* the place */
}

void ghosts_free(struct ghosts *ghosts)
{
    if (ghosts->window != MPI_WIN_NULL)
        MPI_Win_free(&ghosts->window);
    free(ghosts);
}
