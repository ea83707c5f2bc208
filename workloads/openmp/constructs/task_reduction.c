/*
 * task_reduction: sums of tasks: of a taskgroup, of taskgroups within each other, of a parallel region, of a loop.
 *
 * 3 parallel regions; 20 + (5 + 5 x 4) + 15 + 16 tasks.
 */
#include "check.h"

static int inner(int i)
{
    int sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
    {
        for (int j = 0; j < 4; j++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i, j)
            sum += 10 * i + j;
        }
    }
    return sum;
}

int main(void)
{
    int sum = 100, product = 1, outer = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
        {
            for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum) in_reduction(* : product) firstprivate(i)
                {
                    sum += i;
                    product *= i % 5 == 0 ? 2 : 1;
                }
            }
        }
#pragma omp taskgroup task_reduction(+ : outer)
        {
            for (int i = 0; i < 5; i++) {
#pragma omp task in_reduction(+ : outer) firstprivate(i)
                outer += inner(i);
            }
        }
    }
    check("sum", sum, 290);
    check("product", product, 16);
    check("sum of taskgroups in tasks", outer, 430);

    int of_region = 0;
#pragma omp parallel reduction(task, + : of_region)
    {
#pragma omp single
        for (int i = 0; i < 15; i++) {
#pragma omp task in_reduction(+ : of_region) firstprivate(i)
            of_region += i;
        }
    }
    check("sum of a region's tasks", of_region, 105);

    int of_loop = 0;
#pragma omp parallel
    {
#pragma omp for reduction(task, + : of_loop) schedule(dynamic)
        for (int i = 0; i < 16; i++) {
#pragma omp task in_reduction(+ : of_loop) firstprivate(i)
            of_loop += i;
        }
    }
    check("sum of a loop's tasks", of_loop, 120);
    return checked("task_reduction", 3, 20 + 5 + 20 + 15 + 16);
}
