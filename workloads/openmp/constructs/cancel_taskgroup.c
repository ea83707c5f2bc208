/*
 * cancel_taskgroup: a search by tasks in which the first to find cancels the others. Run with OMP_CANCELLATION=true; without, all
 * tasks run.
 *
 * 1 parallel region, 200 tasks, of which those that have not begun when one finds do not run.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int found = -1, ran = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
            for (int i = 0; i < 200; i++) {
#pragma omp task firstprivate(i) shared(found, ran)
                {
#pragma omp atomic
                    ran++;
#pragma omp cancellation point taskgroup
                    if (i * i == 49 * 49) {
#pragma omp atomic write
                        found = i;
#pragma omp cancel taskgroup
                    }
                }
            }
        }
    }
    check("found", found, 49);
    if (omp_get_cancellation())
        check("whether too many tasks ran", ran < 1 || ran > 200, 0);
    else
        check("tasks that ran", ran, 200);
    return checked("cancel_taskgroup", 1, omp_get_cancellation() ? -1 : 200);
}
