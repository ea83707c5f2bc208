/* loads WAY LIBRARY...: a program without MPI that loads libraries (WAY is lazy, now, global or deepbind) and runs the
 * function calls_main of the last, which is the program calls.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *way = argv[1];
    int flags = !strcmp(way, "lazy") ? RTLD_LAZY : RTLD_NOW;
    void *library = NULL;
    flags |= !strcmp(way, "global") ? RTLD_GLOBAL : !strcmp(way, "deepbind") ? RTLD_DEEPBIND : 0;
    for (int i = 2; i < argc; i++) {
        library = dlopen(argv[i], flags);
        if (!library) {
            printf("%s\n", dlerror());
            return 1;
        }
    }
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(library, "calls_main");
    char *words[] = {"calls", "200", NULL};
    return run ? run(2, words) : 1;
}
