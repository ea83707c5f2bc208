/*
 * loop: the loop construct, which leaves to the runtime how it runs, and loops for threads and vectors at once.
 *
 * 3 parallel regions, no tasks.
 */
#include "check.h"

enum { N = 1000 };

int main(void)
{
    static int value[N];
    long sum = 0;
#pragma omp parallel
    {
#pragma omp loop bind(parallel)
        for (int i = 0; i < N; i++)
            value[i] = i;
    }
#pragma omp parallel loop reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += value[i];
    check("sum", sum, 499500);
    sum = 0;
/* Not schedule(simd : static, 5): with it clang 19 does iterations more than once. */
#pragma omp parallel for simd reduction(+ : sum) schedule(static, 5)
    for (int i = 0; i < N; i++)
        sum += value[i] * 2;
    check("sum of vectors", sum, 999000);
    return checked("loop", 3, 0);
}
