/* The floor that no tracer goes below: a wrapper that reads the time-stamp counter twice and stores 32 bytes
 * into memory mapped from a file. bench/cost.py preloads it beside the tracer in the same session.
 * It wraps MPI_Comm_rank only, the call that workloads/cheapest.c makes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

enum { WINDOW_BYTES = 1 << 20 };

typedef int (*comm_rank)(void *, int *);

static comm_rank real;
static uint64_t *next, *end, *window;

__attribute__((constructor)) static void prepare(void)
{
    char name[] = "/tmp/kizami-floor-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    if (file < 0 || posix_fallocate(file, 0, WINDOW_BYTES) != 0) abort();
    window = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (window == MAP_FAILED) abort();
    next = window;
    end = window + WINDOW_BYTES / sizeof *window;
    real = (comm_rank)dlsym(RTLD_NEXT, "PMPI_Comm_rank");
}

int MPI_Comm_rank(void *comm, int *rank)
{
    uint64_t start = __rdtsc();
    int result = real(comm, rank);
    uint64_t stop = __rdtsc();
    next[0] = start;
    next[1] = stop;
    next[2] = (uintptr_t)comm;
    next[3] = 1;
    next += 4;
    if (next == end) next = window;
    return result;
}
