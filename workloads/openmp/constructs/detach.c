/*
 * detach: tasks that are complete only when somebody says so: another task, or the task itself.
 *
 * 2 parallel regions, 3 + 2 x 20 tasks: in the first one a task waits by depend for a detached one; in the second each of 20
 * detached tasks is fulfilled by itself, and 20 plain ones run among them.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int value = 0, fulfilled = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : value) shared(value)
        value = 1;
#pragma omp task depend(in : value) shared(seen, value, fulfilled)
        seen = value + fulfilled;
#pragma omp task firstprivate(event) shared(fulfilled)
        {
            fulfilled = 10;
            omp_fulfill_event(event);
        }
    }
    check("what the dependent task saw", seen, 11);

    int plain = 0, detached = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 20; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(detached)
            {
#pragma omp atomic
                detached += i;
                omp_fulfill_event(event);
            }
#pragma omp task shared(plain)
            {
#pragma omp atomic
                plain += i;
            }
        }
#pragma omp taskwait
        /* Before the region's end: taskwait must have waited for them. */
        seen = plain + detached;
    }
    check("sum after taskwait", seen, 380);
    return checked("detach", 2, 43);
}
