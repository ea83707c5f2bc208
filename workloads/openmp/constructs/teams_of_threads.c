/*
 * teams_of_threads: parallel regions with ever other numbers of threads, by clause, by call, by if, and in functions of several
 * depths.
 *
 * 2 x 6 + 1 + 1 parallel regions, no tasks.
 */
#include "check.h"
#include <omp.h>

static int count(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    return threads;
}

int main(void)
{
    static const int numbers[] = {1, 4, 2, 8, 3, 1};
    int most = omp_get_max_threads();
    omp_set_dynamic(0);
    for (int i = 0; i < 6; i++) {
        int threads = 0;
#pragma omp parallel num_threads(numbers[i]) reduction(+ : threads)
        threads++;
        check("threads by clause", threads, numbers[i]);
        omp_set_num_threads(numbers[i]);
        check("threads by call", count(), numbers[i]);
    }
    int alone = 0;
#pragma omp parallel if (most < 0) reduction(+ : alone)
    alone++;
    check("threads by if", alone, 1);
    omp_set_num_threads(most);
    check("threads as at first", count(), most);
    return checked("teams_of_threads", 14, 0);
}
