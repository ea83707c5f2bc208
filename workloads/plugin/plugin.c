/*
 * plugin: a program that knows no MPI and loads a library that brings it along, as Python packages do.
 *
 *     plugin HOW [LIBRARY=libplugin.so beside the program]
 *
 * HOW is how the library is loaded: path (by its path), name (by its name, found by the program's own
 * search path), lazy (bound at the first call), deep (its own libraries first), asked (as `path`, and
 * its functions are found by dlsym: as languages call MPI that have no linker). The library does not
 * need MPI itself, but a library that it needs does.
 *
 * Each rank makes 1 MPI_Init, 50 MPI_Allreduce, 50 MPI_Sendrecv, 1 MPI_Finalize, and prints a sum.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "path";
    char self[4000] = "", path[5000];
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 2;
    if (argc > 2 || strcmp(how, "name") == 0)
        snprintf(path, sizeof path, "%s", argc > 2 ? argv[2] : "libplugin.so");
    else
        snprintf(path, sizeof path, "%s/libplugin.so", dirname(self));
    int mode = strcmp(how, "lazy") == 0   ? RTLD_LAZY
               : strcmp(how, "deep") == 0 ? RTLD_NOW | RTLD_DEEPBIND
                                          : RTLD_NOW;
    void *library = dlopen(path, mode | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "plugin: %s\n", dlerror());
        return 2;
    }
    const char *name = strcmp(how, "asked") == 0 ? "plugin_run_asked" : "plugin_run";
    int (*run)(void *) = (int (*)(void *))dlsym(library, name);
    return run == NULL ? 2 : run(library);
}
