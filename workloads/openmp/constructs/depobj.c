/*
 * depobj: dependences that are stored in objects, changed and destroyed.
 *
 * 1 parallel region, 4 tasks in a row: each multiplies and adds, so that another order gives another number.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int value = 1;
#pragma omp parallel
#pragma omp single
    {
        omp_depend_t stored;
#pragma omp depobj(stored) depend(inout : value)
#pragma omp task depend(depobj : stored) shared(value)
        value = value * 3 + 1;
#pragma omp task depend(depobj : stored) shared(value)
        value = value * 5 + 2;
#pragma omp depobj(stored) update(in)
        int copy = 0;
#pragma omp task depend(depobj : stored) depend(out : copy) shared(value, copy)
        copy = value;
#pragma omp task depend(in : copy) depend(inout : value) shared(value, copy)
        value += 100 * copy;
#pragma omp taskwait
#pragma omp depobj(stored) destroy
    }
    check("value", value, 22 + 2200);
    return checked("depobj", 1, 4);
}
