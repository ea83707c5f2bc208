/*
 * threadprivate: variables of threads that outlive parallel regions, copied in and firstprivate.
 *
 * 3 parallel regions of the same number of threads, no tasks.
 */
#include "check.h"
#include <omp.h>

static int own = 5, table[4] = {1, 2, 3, 4};
#pragma omp threadprivate(own, table)

int main(void)
{
    int threads = 0, copied = 0, kept = 0, first = 3, sum = 0;
    omp_set_dynamic(0);
    own = 8;
    table[3] = 9;
#pragma omp parallel copyin(own, table) reduction(+ : threads, copied)
    {
        threads++;
        copied += own == 8 && table[3] == 9;
        own = 100 + omp_get_thread_num();
    }
    check("threads that got a copy", copied, threads);

#pragma omp parallel reduction(+ : kept)
    kept += own == 100 + omp_get_thread_num();
    check("threads that kept theirs", kept, threads);

#pragma omp parallel firstprivate(first) reduction(+ : sum)
    {
        first += 1;
        sum += first;
    }
    check("sum of private ones", sum, 4 * threads);
    check("the first one", first, 3);
    return checked("threadprivate", 3, 0);
}
