/*
 * untied: tasks that may go on on another thread after they waited or yielded.
 *
 * 1 parallel region, 4 + 4 x 10 tasks, 4 x 10 taskyields and 4 taskwaits in tasks.
 */
#include "check.h"

int main(void)
{
    int part[4] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task untied firstprivate(i) shared(part)
        {
            for (int j = 0; j < 10; j++) {
#pragma omp task untied firstprivate(i, j) shared(part)
                {
#pragma omp atomic
                    part[i] += j;
                }
#pragma omp taskyield
            }
#pragma omp taskwait
            part[i] *= 2;
        }
    }
    for (int i = 0; i < 4; i++)
        sum += part[i];
    check("sum", sum, 360);
    return checked("untied", 1, 44);
}
