/*
 * ordered: parts of a loop that run in the order of its iterations.
 *
 * 3 parallel regions, 60 + 60 + 60 ordered parts, no tasks.
 */
#include "check.h"

int main(void)
{
    int next = 0, late = 0;
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 60; i++) {
#pragma omp ordered
        {
            late += next != i;
            next++;
        }
    }
    check("parts out of order, dynamic", late + 60 - next, 0);

    next = 0;
#pragma omp parallel for ordered schedule(static, 3)
    for (int i = 0; i < 60; i++) {
#pragma omp ordered
        {
            late += next != i;
            next++;
        }
    }
    check("parts out of order, static", late + 60 - next, 0);

    next = 0;
#pragma omp parallel for ordered schedule(guided) collapse(2)
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 10; j++) {
#pragma omp ordered
            {
                late += next != 10 * i + j;
                next++;
            }
        }
    check("parts out of order, guided", late + 60 - next, 0);
    return checked("ordered", 3, 0);
}
