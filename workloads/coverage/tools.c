/* A little of the tool interface MPI_T: control and performance variables. */
#include "coverage.h"

static void control_variables(void)
{
    int n, level, length, description_length, binding, scope, count, index;
    char name[256], description[1024];
    MPI_Datatype type;
    MPI_T_enum values;
    CALL(MPI_T_cvar_get_num, &n);
    CHECK(n >= 0);
    if (n == 0)
        return;
    length = sizeof name, description_length = sizeof description;
    CALL(MPI_T_cvar_get_info, 0, name, &length, &level, &type, &values, description,
         &description_length, &binding, &scope);
    CHECK(length > 0);
    CALL(MPI_T_cvar_get_index, name, &index);
    CHECK(index == 0);
    for (int i = 0; i < n; i++) { /* read the first plain int there is */
        MPI_T_cvar_handle variable;
        int value;
        length = sizeof name, description_length = sizeof description;
        if (CALL(MPI_T_cvar_get_info, i, name, &length, &level, &type, &values, description,
                 &description_length, &binding, &scope) != MPI_SUCCESS)
            continue;
        if (type != MPI_INT || binding != MPI_T_BIND_NO_OBJECT)
            continue;
        if (CALL(MPI_T_cvar_handle_alloc, i, NULL, &variable, &count) != MPI_SUCCESS)
            continue;
        if (count == 1)
            CHECK(CALL(MPI_T_cvar_read, variable, &value) == MPI_SUCCESS);
        CALL(MPI_T_cvar_handle_free, &variable);
        break;
    }
}

void cover_tools(void)
{
    int provided, variables, categories, stamp;
    MPI_T_pvar_session session;
    CALL(MPI_T_init_thread, MPI_THREAD_SINGLE, &provided);
    control_variables();
    CALL(MPI_T_pvar_get_num, &variables);
    CHECK(variables >= 0);
    CALL(MPI_T_pvar_session_create, &session);
    CALL(MPI_T_pvar_session_free, &session);
    CALL(MPI_T_category_get_num, &categories);
    CHECK(categories >= 0);
    CALL(MPI_T_category_changed, &stamp);
    CALL(MPI_T_finalize);
}
