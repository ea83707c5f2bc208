/* Attributes with their key values on communicators and datatypes; infos. */
#include "coverage.h"

/* Info_get and others are deprecated since MPI 4; programs use them still. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int copies, deletions;

static int copy_comm(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void on_communicators(void)
{
    MPI_Comm comm, dup;
    int key, value = 5, *found, flag;
    CALL(MPI_Comm_dup, MPI_COMM_SELF, &comm);
    CALL(MPI_Comm_create_keyval, copy_comm, delete_comm, &key, NULL);
    CALL(MPI_Comm_set_attr, comm, key, &value);
    CALL(MPI_Comm_dup, comm, &dup);
    CALL(MPI_Comm_get_attr, dup, key, &found, &flag);
    CHECK(flag && found == &value && copies == 1);
    CALL(MPI_Comm_delete_attr, dup, key);
    CHECK(deletions == 1);
    CALL(MPI_Comm_get_attr, dup, key, &found, &flag);
    CHECK(!flag);
    CALL(MPI_Comm_free, &dup);
    CALL(MPI_Comm_free, &comm); /* deletes the attribute that is left */
    CHECK(deletions == 2);
    CALL(MPI_Comm_free_keyval, &key);
    CHECK(key == MPI_KEYVAL_INVALID);

    CALL(MPI_Comm_get_attr, MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *found >= 32767);
#if MPI_VERSION < 4
    CALL(MPI_Keyval_create, MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Attr_put, MPI_COMM_SELF, key, &value);
    CALL(MPI_Attr_get, MPI_COMM_SELF, key, &found, &flag);
    CHECK(flag && found == &value);
    CALL(MPI_Attr_delete, MPI_COMM_SELF, key);
    CALL(MPI_Keyval_free, &key);
#endif
}

static void on_datatypes(void)
{
    MPI_Datatype type;
    int key, value = 6, *found, flag;
    CALL(MPI_Type_dup, MPI_INT, &type);
    CALL(MPI_Type_create_keyval, MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Type_set_attr, type, key, &value);
    CALL(MPI_Type_get_attr, type, key, &found, &flag);
    CHECK(flag && found == &value);
    CALL(MPI_Type_delete_attr, type, key);
    CALL(MPI_Type_free_keyval, &key);
    CALL(MPI_Type_free, &type);
}

static void infos(void)
{
    MPI_Info info, dup, of_comm;
    MPI_Comm comm;
    int keys, length, flag;
    char key[MPI_MAX_INFO_KEY], value[16];
    CALL(MPI_Info_create, &info);
    CALL(MPI_Info_set, info, "kind", "workload");
    CALL(MPI_Info_set, info, "colour", "blue");
    CALL(MPI_Info_get_nkeys, info, &keys);
    CHECK(keys == 2);
    CALL(MPI_Info_get_nthkey, info, 0, key);
    CHECK(strcmp(key, "kind") == 0 || strcmp(key, "colour") == 0);
    CALL(MPI_Info_get_valuelen, info, "kind", &length, &flag);
    CHECK(flag && length == 8);
    CALL(MPI_Info_get, info, "kind", sizeof value - 1, value, &flag);
    CHECK(flag && strcmp(value, "workload") == 0);
    CALL(MPI_Info_dup, info, &dup);
    CALL(MPI_Info_delete, dup, "kind");
    CALL(MPI_Info_get_nkeys, dup, &keys);
    CHECK(keys == 1);

    CALL(MPI_Comm_dup, MPI_COMM_SELF, &comm);
    CALL(MPI_Comm_set_info, comm, info);
    CALL(MPI_Comm_get_info, comm, &of_comm);
    CALL(MPI_Info_free, &of_comm);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Info_free, &info);
    CALL(MPI_Info_free, &dup);
    CHECK(info == MPI_INFO_NULL);
}

void cover_attributes(void)
{
    on_communicators();
    on_datatypes();
    infos();
}
