/* Predefined and own reduction operations. */
#include "coverage.h"

static void larger_magnitude(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    const int *a = in;
    int *b = inout;
    for (int i = 0; i < *n; i++)
        if (abs(a[i]) > abs(b[i]))
            b[i] = a[i];
}

static int reduced(int mine, MPI_Op op)
{
    int all = -1;
    CALL(MPI_Allreduce, &mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    return all;
}

void cover_operations(void)
{
    CHECK(reduced(rank, MPI_SUM) == size * (size - 1) / 2);
    CHECK(reduced(rank, MPI_MAX) == size - 1);
    CHECK(reduced(rank, MPI_MIN) == 0);
    CHECK(reduced(rank == 0 ? 6 : 1, MPI_PROD) == 6);
    CHECK(reduced(rank == 0, MPI_LOR) == 1);
    CHECK(reduced(1, MPI_LAND) == 1);
    CHECK(reduced(rank == 0, MPI_LXOR) == 1);
    CHECK(reduced(rank == 0 ? 5 : 0, MPI_BOR) == 5);
    CHECK(reduced(rank == 0 ? 5 : 7, MPI_BAND) == 5);
    CHECK(reduced(rank == 0 ? 5 : 0, MPI_BXOR) == 5);

    struct {
        double value;
        int place;
    } mine = {-rank, rank}, all;
    CALL(MPI_Allreduce, &mine, &all, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(all.place == size - 1);
    CALL(MPI_Allreduce, &mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(all.place == 0);

    MPI_Op op;
    int commutes, in = -9, inout = 4;
    CALL(MPI_Op_create, larger_magnitude, 1, &op);
    CALL(MPI_Op_commutative, op, &commutes);
    CHECK(commutes);
    CHECK(reduced(-rank, op) == -(size - 1));
    CALL(MPI_Reduce_local, &in, &inout, 1, MPI_INT, op);
    CHECK(inout == -9);
    CALL(MPI_Op_free, &op);
    CHECK(op == MPI_OP_NULL);
}
