/*
 * scope: a piece of a parallel region with variables and a reduction of its own.
 * Needs: gcc 12, clang none
 *
 * 1 parallel region, no tasks; 2 scopes.
 */
#include "check.h"

int main(void)
{
    int sum = 0, threads = 0, factor = 3;
#pragma omp parallel
    {
#pragma omp scope reduction(+ : threads)
        threads++;
#pragma omp scope reduction(+ : sum) nowait
        sum += factor;
    }
    check("sum", sum, 3 * threads);
    return checked("scope", 1, 0);
}
