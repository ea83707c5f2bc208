/*
 * cancel_for: loops, sections and a parallel region that are cancelled. Run with OMP_CANCELLATION=true; without, all is done.
 *
 * 3 parallel regions, no tasks.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int found = -1, iterations = 0, sections = 0, beyond = 0, threads = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 1000; i++) {
#pragma omp cancellation point for
#pragma omp atomic
            iterations++;
            if (i == 20) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
        }
    }
    check("found", found, 20);
    if (omp_get_cancellation() && omp_get_max_threads() == 1)
        check("iterations", iterations, 21);
    if (!omp_get_cancellation())
        check("iterations", iterations, 1000);

#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                sections++;
#pragma omp cancel sections
            }
#pragma omp section
            {
#pragma omp cancellation point sections
#pragma omp atomic
                sections++;
            }
        }
    }
    check("whether no section ran", sections < 1 || sections > 2, 0);

#pragma omp parallel
    {
#pragma omp atomic
        threads++;
/* No barrier before it: where cancellation is on, a barrier looks for it too, and LLVM 19's runtime then hangs now and then. */
#pragma omp cancel parallel
#pragma omp atomic
        beyond++;
    }
    check("threads that went on", beyond, omp_get_cancellation() ? 0 : threads);
    return checked("cancel_for", 3, 0);
}
