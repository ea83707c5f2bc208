/* What Fortran programs use of truth.h. SimGrid replaces nanosleep where its C compiler compiles. */
#include "truth.h"

void truth_work_us(double us)
{
    work_us(us);
}

double truth_chance(int seed, int step, int which)
{
    return chance((uint64_t)seed, (uint64_t)step, (uint64_t)which);
}
