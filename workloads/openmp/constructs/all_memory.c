/*
 * all_memory: a task that depends on all tasks with dependences before it, and on which all after it depend.
 * Needs: gcc 13, clang 15
 *
 * 1 parallel region, 21 tasks: 10 that write, 1 on all memory that sums, 10 that read the sum.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int value[10] = {0}, sum = 0, after = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task depend(out : value[i]) shared(value)
            value[i] = i + 1;
        }
#pragma omp task depend(inout : omp_all_memory) shared(value, sum)
        for (int i = 0; i < 10; i++)
            sum += value[i];
        for (int i = 0; i < 10; i++) {
#pragma omp task depend(in : value[i]) shared(sum, after)
            {
#pragma omp atomic
                after += sum;
            }
        }
    }
    check("sum", sum, 55);
    check("sum after it", after, 550);
    return checked("all_memory", 1, 21);
}
