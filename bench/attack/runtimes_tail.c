/* A library whose functions end in a call to the OpenMP runtime it was linked to: compiled with -O2 they jump there, and
 * the runtime returns to whoever called them. */
#include <omp.h>

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

__attribute__((constructor)) static void make(void)
{
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
}

void tail_take(void)
{
    omp_set_lock(&lock);
}

void tail_give(void)
{
    omp_unset_lock(&lock);
}

void tail_take_nest(void)
{
    omp_set_nest_lock(&nest_lock);
}

void tail_give_nest(void)
{
    omp_unset_nest_lock(&nest_lock);
}
