/*
 * mutexinoutset: tasks on one variable in any order, but one at a time.
 *
 * 1 parallel region, 42 tasks: 1 that writes, 40 that add without an atomic, 1 that reads.
 */
#include "check.h"

int main(void)
{
    int sum = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : sum) shared(sum)
        sum = 1000;
        for (int i = 1; i <= 40; i++) {
#pragma omp task depend(mutexinoutset : sum) shared(sum)
            sum += i;
        }
#pragma omp task depend(in : sum) shared(sum, seen)
        seen = sum;
    }
    check("sum", seen, 1820);
    return checked("mutexinoutset", 1, 42);
}
