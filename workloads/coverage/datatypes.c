/* Every constructor of datatypes, what can be asked of them, and packing. */
#include "coverage.h"

/* Sends a type that picks `picked` ints out of 16 to the right, as plain ints. */
static void use(MPI_Datatype *type, int picked)
{
    int out[16], in[16], bytes;
    for (int i = 0; i < 16; i++)
        out[i] = 100 * rank + i;
    CALL(MPI_Type_commit, type);
    CALL(MPI_Type_size, *type, &bytes);
    CHECK(bytes == picked * (int)sizeof(int));
    CALL(MPI_Sendrecv, out, 1, *type, right, 1, in, picked, MPI_INT, left, 1, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    for (int i = 0; i < picked; i++)
        CHECK(in[i] >= 100 * left && in[i] < 100 * left + 16);
    CALL(MPI_Type_free, type);
    CHECK(*type == MPI_DATATYPE_NULL);
}

static void constructors(void)
{
    MPI_Datatype type;
    const int lengths[2] = {2, 1}, places[2] = {1, 6};
    const MPI_Aint bytes[2] = {sizeof(int), 6 * sizeof(int)};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    CALL(MPI_Type_contiguous, 3, MPI_INT, &type);
    use(&type, 3);
    CALL(MPI_Type_vector, 3, 2, 4, MPI_INT, &type);
    use(&type, 6);
    CALL(MPI_Type_create_hvector, 3, 1, 2 * sizeof(int), MPI_INT, &type);
    use(&type, 3);
    CALL(MPI_Type_indexed, 2, lengths, places, MPI_INT, &type);
    use(&type, 3);
    CALL(MPI_Type_create_hindexed, 2, lengths, bytes, MPI_INT, &type);
    use(&type, 3);
    CALL(MPI_Type_create_indexed_block, 2, 2, places, MPI_INT, &type);
    use(&type, 4);
    CALL(MPI_Type_create_hindexed_block, 2, 2, bytes, MPI_INT, &type);
    use(&type, 4);
    CALL(MPI_Type_create_struct, 2, lengths, bytes, types, &type);
    use(&type, 3);
    const int whole[2] = {4, 4}, part[2] = {2, 3}, corner[2] = {1, 1};
    CALL(MPI_Type_create_subarray, 2, whole, part, corner, MPI_ORDER_C, MPI_INT, &type);
    use(&type, 6);
    const int sizes[1] = {8}, grid[1] = {2};
    const int blocks[1] = {MPI_DISTRIBUTE_BLOCK}, dargs[1] = {MPI_DISTRIBUTE_DFLT_DARG};
    CALL(MPI_Type_create_darray, 2, rank % 2, 1, sizes, blocks, dargs, grid, MPI_ORDER_C, MPI_INT,
         &type);
    use(&type, 4);
    CALL(MPI_Type_create_resized, MPI_INT, 0, 4 * sizeof(int), &type);
    use(&type, 1);
    CALL(MPI_Type_dup, MPI_INT, &type);
    use(&type, 1);
}

static void questions(void)
{
    MPI_Datatype type, inner[1];
    MPI_Aint low, extent, address, addresses[1];
    MPI_Count low_x, extent_x, size_x;
    int integers, places, types, how, number[3], length, here;
    char name[MPI_MAX_OBJECT_NAME];
    CALL(MPI_Type_vector, 3, 2, 4, MPI_INT, &type);
    CALL(MPI_Type_get_envelope, type, &integers, &places, &types, &how);
    CHECK(how == MPI_COMBINER_VECTOR && integers == 3 && places == 0 && types == 1);
    CALL(MPI_Type_get_contents, type, 3, 0, 1, number, addresses, inner);
    CHECK(number[0] == 3 && number[1] == 2 && number[2] == 4 && inner[0] == MPI_INT);
    CALL(MPI_Type_get_extent, type, &low, &extent);
    CHECK(low == 0 && extent == 10 * sizeof(int));
    CALL(MPI_Type_get_extent_x, type, &low_x, &extent_x);
    CHECK(low_x == 0 && extent_x == 10 * (MPI_Count)sizeof(int));
    CALL(MPI_Type_get_true_extent, type, &low, &extent);
    CHECK(low == 0 && extent == 10 * sizeof(int));
    CALL(MPI_Type_get_true_extent_x, type, &low_x, &extent_x);
    CHECK(extent_x == 10 * (MPI_Count)sizeof(int));
    CALL(MPI_Type_size_x, type, &size_x);
    CHECK(size_x == 6 * (MPI_Count)sizeof(int));
    CALL(MPI_Type_set_name, type, "pairs");
    CALL(MPI_Type_get_name, type, name, &length);
    CHECK(strcmp(name, "pairs") == 0);
    CALL(MPI_Get_address, &here, &address);
    CHECK(address == (MPI_Aint)&here);
    CALL(MPI_Type_free, &type);

    /* Types of Fortran kinds: a library without Fortran may refuse them. */
    CALL(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CALL(MPI_Type_match_size, MPI_TYPECLASS_REAL, 8, &type);
    CALL(MPI_Type_create_f90_real, 6, MPI_UNDEFINED, &type);
    CALL(MPI_Type_create_f90_complex, 6, MPI_UNDEFINED, &type);
    CALL(MPI_Type_create_f90_integer, 6, &type);
    CALL(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void packing(void)
{
    char packed[256];
    int number = 42, place = 0, room;
    double real = 0.5;
    MPI_Aint place_x = 0, room_x;
    CALL(MPI_Pack_size, 1, MPI_DOUBLE, MPI_COMM_WORLD, &room);
    CHECK(room >= (int)sizeof(double));
    CALL(MPI_Pack, &number, 1, MPI_INT, packed, sizeof packed, &place, MPI_COMM_WORLD);
    CALL(MPI_Pack, &real, 1, MPI_DOUBLE, packed, sizeof packed, &place, MPI_COMM_WORLD);
    number = 0, real = 0;
    CALL(MPI_Sendrecv_replace, packed, place, MPI_PACKED, right, 2, left, 2, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    place = 0;
    CALL(MPI_Unpack, packed, sizeof packed, &place, &number, 1, MPI_INT, MPI_COMM_WORLD);
    CALL(MPI_Unpack, packed, sizeof packed, &place, &real, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(number == 42 && real == 0.5);

    CALL(MPI_Pack_external_size, "external32", 1, MPI_INT, &room_x);
    CHECK(room_x == 4);
    CALL(MPI_Pack_external, "external32", &number, 1, MPI_INT, packed, sizeof packed, &place_x);
    CHECK(place_x == 4 && packed[0] == 0 && packed[3] == 42); /* big-endian */
    number = 0, place_x = 0;
    CALL(MPI_Unpack_external, "external32", packed, sizeof packed, &place_x, &number, 1, MPI_INT);
    CHECK(number == 42);
}

/* Absolute addresses, with MPI_BOTTOM; and elements of a type received in part. */
static void bottom_and_elements(void)
{
    int a = rank, b = rank + 1, in[2], count, elements;
    const int ones[2] = {1, 1};
    MPI_Aint address[2];
    MPI_Count elements_x;
    MPI_Datatype apart, pair;
    MPI_Status status;
    CALL(MPI_Get_address, &a, &address[0]);
    CALL(MPI_Get_address, &b, &address[1]);
    CALL(MPI_Type_create_hindexed, 2, ones, address, MPI_INT, &apart);
    CALL(MPI_Type_contiguous, 2, MPI_INT, &pair);
    CALL(MPI_Type_commit, &apart);
    CALL(MPI_Type_commit, &pair);
    CALL(MPI_Sendrecv, MPI_BOTTOM, 1, apart, right, 3, in, 1, pair, left, 3, MPI_COMM_WORLD,
         &status);
    CHECK(in[0] == left && in[1] == left + 1);
    CALL(MPI_Get_count, &status, pair, &count);
    CALL(MPI_Get_elements, &status, pair, &elements);
    CALL(MPI_Get_elements_x, &status, pair, &elements_x);
    CHECK(count == 1 && elements == 2 && elements_x == 2);
    CALL(MPI_Sendrecv, &a, 1, MPI_INT, right, 4, in, 1, pair, left, 4, MPI_COMM_WORLD, &status);
    CALL(MPI_Get_count, &status, pair, &count);
    CALL(MPI_Get_elements, &status, pair, &elements);
    CHECK(count == MPI_UNDEFINED && elements == 1); /* half a pair */
    CALL(MPI_Type_free, &apart);
    CALL(MPI_Type_free, &pair);
}

void cover_datatypes(void)
{
    constructors();
    questions();
    packing();
    bottom_and_elements();
}
