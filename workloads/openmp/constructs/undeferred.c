/*
 * undeferred: tasks with if(0), with priorities, in taskgroups in each other, before a taskwait with depend, and outside of any
 * parallel region.
 *
 * 1 parallel region, 5 + 10 + 1 + 10 + 2 + 3 tasks.
 */
#include "check.h"

int main(void)
{
    int at_once = 0, sum = 0, in_group = 0, waited = 0, other = 0, outside = 0, order = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 5; i++) {
#pragma omp task if (0) shared(order)
            order = order * 10 + i;
        }
        at_once = order;
        for (int i = 0; i < 10; i++) {
#pragma omp task priority(i) shared(sum)
            {
#pragma omp atomic
                sum += i;
            }
        }
#pragma omp taskgroup
        {
#pragma omp task shared(in_group)
            {
#pragma omp taskgroup
                {
                    for (int i = 0; i < 10; i++) {
#pragma omp task shared(in_group)
                        {
#pragma omp atomic
                            in_group += i;
                        }
                    }
                }
                in_group *= 2;
            }
        }
        in_group++;
#pragma omp task depend(out : waited) shared(waited)
        waited = 7;
#pragma omp task depend(out : other) shared(other)
        other = 9;
#pragma omp taskwait depend(in : waited)
        waited++;
    }
    check("order of tasks with if(0)", at_once, 1234);
    check("sum of tasks with priorities", sum, 45);
    check("sum of taskgroups", in_group, 91);
    check("what taskwait waited for", waited, 8);
    check("what it did not wait for", other, 9);
    for (int i = 1; i <= 3; i++) {
#pragma omp task shared(outside)
        outside += i;
    }
#pragma omp taskwait
    check("sum of tasks outside of regions", outside, 6);
    return checked("undeferred", 1, 31);
}
