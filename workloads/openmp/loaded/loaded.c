/*
 * loaded: a program without OpenMP that loads libpart.so, which uses it, calls it, and unloads it; ROUNDS times.
 *
 *     loaded [ROUNDS=3] [THREADS=1]
 *
 * 1 region and 10 tasks each round. Checks the sums. GNU's runtime keeps the threads of regions, and is unloaded under them:
 * there only 1 thread is safe.
 */
#include "../program.h"
#include <dlfcn.h>
#include <libgen.h>
#include <unistd.h>

/* A round; the sum that the library gives. */
static long once(const char *path, int threads)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "loaded: %s\n", dlerror());
        exit(2);
    }
    long (*part)(int) = (long (*)(int))dlsym(library, "part");
    long sum = part(threads);
    dlclose(library);
    return sum;
}

int main(int argc, char **argv)
{
    long rounds = number(argc, argv, 1, 3, 1, 1000);
    int threads = (int)number(argc, argv, 2, 1, 1, 64);
    char self[4000] = "", path[5000];
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 2;
    snprintf(path, sizeof path, "%s/libpart.so", dirname(self));
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += once(path, threads);
    int holds = sum == 45 * rounds;
    printf("loaded: sum %ld, regions %ld, tasks %ld%s\n", sum, rounds, 10 * rounds, holds ? "" : ", WRONG");
    return holds ? 0 : 1;
}
