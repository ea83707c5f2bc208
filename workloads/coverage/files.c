/* All of MPI-IO on one file. */
#include "coverage.h"

static MPI_File file;
static int out, in;
static MPI_Status status;

static void handle(MPI_File *f, int *code, ...)
{
    (void)f, (void)code;
}

/* The next write or read is of this number, and of the one of this rank. */
static void next(int number)
{
    out = 100 * number + rank;
    in = -1;
}

static void arrived(int number, int writer)
{
    CHECK(in == 100 * number + writer);
}

static void about_files(void)
{
    MPI_Offset bytes, place;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler ours, now;
    MPI_Datatype element, view;
    MPI_Aint extent;
    int mode, atomic, n;
    char form[MPI_MAX_DATAREP_STRING];
    CALL(MPI_File_preallocate, file, 64 * size);
    CALL(MPI_File_set_size, file, 0);
    CALL(MPI_File_get_size, file, &bytes);
    CHECK(bytes == 0);
    CALL(MPI_File_get_amode, file, &mode);
    CHECK(mode & MPI_MODE_RDWR);
    CALL(MPI_File_get_group, file, &group);
    CALL(MPI_Group_size, group, &n);
    CHECK(n == size);
    CALL(MPI_Group_free, &group);
    CALL(MPI_File_get_info, file, &info);
    CALL(MPI_File_set_info, file, info);
    CALL(MPI_Info_free, &info);
    CALL(MPI_File_set_atomicity, file, 1);
    CALL(MPI_File_get_atomicity, file, &atomic);
    CHECK(atomic);
    CALL(MPI_File_set_atomicity, file, 0);
    CALL(MPI_File_create_errhandler, handle, &ours);
    CALL(MPI_File_set_errhandler, file, ours);
    CALL(MPI_File_get_errhandler, file, &now);
    CHECK(now == ours);
    CALL(MPI_File_call_errhandler, file, MPI_ERR_OTHER);
    CALL(MPI_File_set_errhandler, file, MPI_ERRORS_ARE_FATAL);
    CALL(MPI_Errhandler_free, &now);
    CALL(MPI_Errhandler_free, &ours);

    /* All that follows counts in ints; each rank has place `rank` to itself. */
    CALL(MPI_File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    CALL(MPI_File_get_view, file, &place, &element, &view, form);
    CHECK(place == 0 && strcmp(form, "native") == 0);
    CALL(MPI_File_get_type_extent, file, MPI_INT, &extent);
    CHECK(extent == sizeof(int));
    CALL(MPI_File_get_byte_offset, file, 3, &place);
    CHECK(place == 3 * (MPI_Offset)sizeof(int));
}

static void at_places(void)
{
    MPI_Request request;
    next(1);
    CALL(MPI_File_write_at, file, rank, &out, 1, MPI_INT, &status);
    CALL(MPI_File_read_at, file, rank, &in, 1, MPI_INT, &status);
    arrived(1, rank);
    next(2);
    CALL(MPI_File_write_at_all, file, rank, &out, 1, MPI_INT, &status);
    CALL(MPI_File_read_at_all, file, rank, &in, 1, MPI_INT, &status);
    arrived(2, rank);
    next(3);
    CALL(MPI_File_iwrite_at, file, rank, &out, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    CALL(MPI_File_iread_at, file, rank, &in, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    arrived(3, rank);
    next(4);
    CALL(MPI_File_iwrite_at_all, file, rank, &out, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    CALL(MPI_File_iread_at_all, file, rank, &in, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    arrived(4, rank);
    next(5);
    CALL(MPI_File_write_at_all_begin, file, rank, &out, 1, MPI_INT);
    CALL(MPI_File_write_at_all_end, file, &out, &status);
    CALL(MPI_File_read_at_all_begin, file, rank, &in, 1, MPI_INT);
    CALL(MPI_File_read_at_all_end, file, &in, &status);
    arrived(5, rank);
}

static void seek(void)
{
    MPI_Offset place;
    CALL(MPI_File_seek, file, rank, MPI_SEEK_SET);
    CALL(MPI_File_get_position, file, &place);
    CHECK(place == rank);
}

static void by_own_pointer(void)
{
    MPI_Request request;
    next(6);
    seek();
    CALL(MPI_File_write, file, &out, 1, MPI_INT, &status);
    seek();
    CALL(MPI_File_read, file, &in, 1, MPI_INT, &status);
    arrived(6, rank);
    next(7);
    seek();
    CALL(MPI_File_write_all, file, &out, 1, MPI_INT, &status);
    seek();
    CALL(MPI_File_read_all, file, &in, 1, MPI_INT, &status);
    arrived(7, rank);
    next(8);
    seek();
    CALL(MPI_File_iwrite, file, &out, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    seek();
    CALL(MPI_File_iread, file, &in, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    arrived(8, rank);
    next(9);
    seek();
    CALL(MPI_File_iwrite_all, file, &out, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    seek();
    CALL(MPI_File_iread_all, file, &in, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    arrived(9, rank);
    next(10);
    seek();
    CALL(MPI_File_write_all_begin, file, &out, 1, MPI_INT);
    CALL(MPI_File_write_all_end, file, &out, &status);
    seek();
    CALL(MPI_File_read_all_begin, file, &in, 1, MPI_INT);
    CALL(MPI_File_read_all_end, file, &in, &status);
    arrived(10, rank);
}

static void rewind_shared(void)
{
    MPI_Offset place;
    CALL(MPI_File_sync, file);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_File_seek_shared, file, 0, MPI_SEEK_SET);
    CALL(MPI_File_get_position_shared, file, &place);
    CHECK(place == 0);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
}

/* Ordered accesses come in the order of ranks; the others in any order. */
static void by_shared_pointer(void)
{
    MPI_Request request;
    rewind_shared();
    next(11);
    CALL(MPI_File_write_ordered, file, &out, 1, MPI_INT, &status);
    rewind_shared();
    CALL(MPI_File_read_ordered, file, &in, 1, MPI_INT, &status);
    arrived(11, rank);
    rewind_shared();
    next(12);
    CALL(MPI_File_write_ordered_begin, file, &out, 1, MPI_INT);
    CALL(MPI_File_write_ordered_end, file, &out, &status);
    rewind_shared();
    CALL(MPI_File_read_ordered_begin, file, &in, 1, MPI_INT);
    CALL(MPI_File_read_ordered_end, file, &in, &status);
    arrived(12, rank);
    rewind_shared();
    next(13);
    CALL(MPI_File_write_shared, file, &out, 1, MPI_INT, &status);
    rewind_shared();
    CALL(MPI_File_read_shared, file, &in, 1, MPI_INT, &status);
    CHECK(in >= 1300 && in < 1300 + size);
    rewind_shared();
    next(14);
    CALL(MPI_File_iwrite_shared, file, &out, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    rewind_shared();
    CALL(MPI_File_iread_shared, file, &in, 1, MPI_INT, &request);
    CALL(MPI_Wait, &request, &status);
    CHECK(in >= 1400 && in < 1400 + size);
}

void cover_files(void)
{
    MPI_Errhandler handler;
    /* A new file takes over what MPI_FILE_NULL has: let errors speak. */
    CALL(MPI_File_get_errhandler, MPI_FILE_NULL, &handler);
    CALL(MPI_File_set_errhandler, MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    CALL(MPI_File_open, MPI_COMM_WORLD, scratch_file, MPI_MODE_CREATE | MPI_MODE_RDWR,
         MPI_INFO_NULL, &file);
    about_files();
    at_places();
    by_own_pointer();
    by_shared_pointer();
    CALL(MPI_File_close, &file);
    CHECK(file == MPI_FILE_NULL);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    if (rank == 0)
        CALL(MPI_File_delete, scratch_file, MPI_INFO_NULL);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_File_set_errhandler, MPI_FILE_NULL, handler);
}
