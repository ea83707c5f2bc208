/*
 * iterator: a task whose number of dependences is known only when it is created.
 *
 * 1 parallel region, 13 tasks: 12 that write, 1 that reads them all by depend(iterator).
 */
#include "check.h"

int main(void)
{
    int value[12] = {0}, many = 12, sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < many; i++) {
#pragma omp task depend(out : value[i]) shared(value)
            value[i] = i * i;
        }
#pragma omp task depend(iterator(i = 0 : many), in : value[i]) shared(value, sum)
        for (int i = 0; i < many; i++)
            sum += value[i];
    }
    check("sum of squares", sum, 506);
    return checked("iterator", 1, 13);
}
