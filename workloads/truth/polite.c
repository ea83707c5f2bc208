/* For more ranks than cores: ranks that wait should leave the cores to those that do not. MPICH's never give theirs up, and
 * Open MPI's only yield, so that on two cores four ranks that wait are in the way of everybody. Linked into a program, this
 * stands before the function in which they wait, and sleeps for a moment where nothing has come for long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

enum { PATIENCE = 50, MOMENT_NS = 20000 };

static int idle;

static void *behind(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int yields(void)
{
    static int (*real)(void);
    if (real == NULL)
        *(void **)&real = behind("sched_yield");
    return real();
}

static void wait_politely(int came)
{
    struct timespec moment = {0, MOMENT_NS};
    idle = came ? 0 : idle + 1;
    if (idle > PATIENCE)
        nanosleep(&moment, NULL);
}

/* MPICH, which says how many things came. */
unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    if (real == NULL)
        *(void **)&real = behind("ucp_worker_progress");
    unsigned came = real(worker);
    if (!came && idle <= PATIENCE)
        yields();
    wait_politely(came != 0);
    return came;
}

/* Open MPI with mpi_yield_when_idle, which yields if nothing came. */
static int yielded;

int sched_yield(void)
{
    yielded = 1;
    return idle <= PATIENCE ? yields() : 0;
}

void opal_progress(void)
{
    static void (*real)(void);
    if (real == NULL)
        *(void **)&real = behind("opal_progress");
    yielded = 0;
    real();
    wait_politely(!yielded);
}
