/*
 * taskloop_reduction: taskloops with sums, in a taskgroup's sum, with nogroup, collapse, lastprivate and in combined form.
 *
 * 3 parallel regions, 8 + 8 + 6 + 10 + 8 + 8 + 4 tasks (num_tasks, less than iterations).
 */
#include "check.h"

int main(void)
{
    long sum = 0, largest = 0, in_group = 0, last = 0, filled = 0;
    int field[10][10] = {{0}}, value[100] = {0};
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(8) reduction(+ : sum)
        for (int i = 0; i < 1000; i++)
            sum += i;
#pragma omp taskloop num_tasks(8) reduction(max : largest)
        for (int i = 0; i < 1000; i++)
            largest = i * 37 % 1000 > largest ? i * 37 % 1000 : largest;
#pragma omp taskgroup task_reduction(+ : in_group)
        {
#pragma omp taskloop num_tasks(6) in_reduction(+ : in_group) nogroup
            for (int i = 0; i < 100; i++)
                in_group += i;
        }
#pragma omp taskloop num_tasks(10) collapse(2) shared(field)
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 10; j++)
                field[i][j] = i * j;
#pragma omp taskloop num_tasks(8) lastprivate(last)
        for (int i = 0; i < 100; i++)
            last = i;
    }
    check("sum", sum, 499500);
    check("largest", largest, 999);
    check("sum in a taskgroup", in_group, 4950);
    check("last", last, 99);
    for (int i = 0; i < 100; i++)
        filled += field[i / 10][i % 10];
    check("sum of a field", filled, 2025);

#pragma omp parallel master taskloop num_tasks(8) shared(value)
    for (int i = 0; i < 100; i++)
        value[i] = i;
    filled = 0;
    for (int i = 0; i < 100; i++)
        filled += value[i];
    check("sum of a combined taskloop", filled, 4950);

    sum = 0;
#pragma omp parallel master taskloop simd num_tasks(4) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    check("sum of a combined taskloop simd", sum, 4950);
    return checked("taskloop_reduction", 3, 52);
}
