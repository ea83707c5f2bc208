/*
 * inoutset: tasks on one variable at once, in order only with tasks of other kinds.
 * Needs: gcc 13, clang 14
 *
 * 1 parallel region, 22 tasks: 1 that writes, 20 that add by atomic, 1 that reads.
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
        for (int i = 1; i <= 20; i++) {
#pragma omp task depend(inoutset : sum) shared(sum)
            {
#pragma omp atomic
                sum += i;
            }
        }
#pragma omp task depend(in : sum) shared(sum, seen)
        seen = sum;
    }
    check("sum", seen, 1210);
    return checked("inoutset", 1, 22);
}
