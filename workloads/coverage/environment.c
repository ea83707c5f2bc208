/* Versions, names, clocks, memory, error codes and error handlers. */
#include "coverage.h"

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

static void error_codes(void)
{
    int class, code, length, new_class, new_code;
    char text[MPI_MAX_ERROR_STRING];
    CALL(MPI_Error_class, MPI_ERR_TAG, &class);
    CHECK(class == MPI_ERR_TAG);
    CALL(MPI_Error_string, MPI_ERR_TAG, text, &length);
    CHECK(length > 0);
    CALL(MPI_Add_error_class, &new_class);
    CALL(MPI_Add_error_code, new_class, &new_code);
    CALL(MPI_Add_error_string, new_code, "an error of our own");
    CALL(MPI_Error_class, new_code, &code);
    CHECK(code == new_class);
    CALL(MPI_Error_string, new_code, text, &length);
    CHECK(strcmp(text, "an error of our own") == 0);
}

static void error_handlers(void)
{
    MPI_Comm comm;
    MPI_Errhandler ours, now;
    int number = 0, class;
    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &comm);
    CALL(MPI_Comm_create_errhandler, handle, &ours);
    CALL(MPI_Comm_set_errhandler, comm, ours);
    CALL(MPI_Comm_get_errhandler, comm, &now);
    CHECK(now == ours);
    CALL(MPI_Errhandler_free, &now);
    CALL(MPI_Comm_call_errhandler, comm, MPI_ERR_OTHER);
    CHECK(handled == 1);
    CALL(MPI_Errhandler_free, &ours);

    /* A call that fails and returns is a call nevertheless. */
    CALL(MPI_Comm_set_errhandler, comm, MPI_ERRORS_RETURN);
    int code = CALL(MPI_Send, &number, 1, MPI_INT, size, 1, comm);
    CHECK(code != MPI_SUCCESS);
    CALL(MPI_Error_class, code, &class);
    CHECK(class == MPI_ERR_RANK);
    CALL(MPI_Comm_free, &comm);
}

void cover_environment(void)
{
    int length, level, flag, *numbers;
    char version[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    CALL(MPI_Get_library_version, version, &length);
    CHECK(length > 0);
    CALL(MPI_Get_processor_name, name, &length);
    CHECK(length > 0);
    CALL(MPI_Query_thread, &level);
    CHECK(level >= MPI_THREAD_SINGLE);
    CALL(MPI_Is_thread_main, &flag);
    CHECK(flag);
    double start = CALL(MPI_Wtime);
    CHECK(CALL(MPI_Wtime) >= start);
    CHECK(CALL(MPI_Wtick) > 0);
    CALL(MPI_Pcontrol, 1);
    CALL(MPI_Alloc_mem, 100 * sizeof *numbers, MPI_INFO_NULL, &numbers);
    numbers[99] = 1;
    CALL(MPI_Free_mem, numbers);
    MPI_Comm parent;
    CALL(MPI_Comm_get_parent, &parent);
    CHECK(parent == MPI_COMM_NULL);
    error_codes();
    error_handlers();

    /* Conversions of handles, where they are functions and not macros; the
       standard ABI of MPI 5 has others. */
#if !defined MPI_Comm_c2f && MPI_VERSION < 5
    MPI_Fint handle_of_world = CALL(MPI_Comm_c2f, MPI_COMM_WORLD);
    CHECK(CALL(MPI_Comm_f2c, handle_of_world) == MPI_COMM_WORLD);
#endif
#if !defined MPI_Type_c2f && MPI_VERSION < 5
    MPI_Fint handle_of_int = CALL(MPI_Type_c2f, MPI_INT);
    CHECK(CALL(MPI_Type_f2c, handle_of_int) == MPI_INT);
#endif
#ifndef MPI_Aint_add
    MPI_Aint sum = CALL(MPI_Aint_add, 40, 2);
    CHECK(CALL(MPI_Aint_diff, sum, 40) == 2);
#endif
}
