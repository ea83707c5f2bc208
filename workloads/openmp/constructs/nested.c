/*
 * nested: parallel regions within each other and within tasks.
 *
 * 1 + 2 parallel regions with two active levels, then 1 + 3 where tasks begin regions, then 1 with another 1 in each of 2 threads
 * that may not be active: 1 + 2 + 1 + 3 + 1 + 2. 3 tasks.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    int sum = 0, begun = 0;
#pragma omp parallel num_threads(2) reduction(+ : begun, sum)
    {
        begun++;
        int outer = omp_get_thread_num(), mine = 0;
#pragma omp parallel num_threads(2) reduction(+ : mine)
        {
#pragma omp for
            for (int i = 0; i < 10; i++)
                mine += i + 100 * outer + 10000 * (omp_get_level() == 2);
        }
        sum += mine;
    }
    check("outer threads", begun, 2);
    check("sum", sum, 90 + 1000 + 200000);

    int of_tasks = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task shared(of_tasks) firstprivate(i)
        {
            int mine = 0;
#pragma omp parallel for num_threads(2) reduction(+ : mine)
            for (int j = 0; j < 10; j++)
                mine += i * j;
#pragma omp atomic
            of_tasks += mine;
        }
    }
    check("sum of regions in tasks", of_tasks, 135);

    omp_set_max_active_levels(1);
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    {
#pragma omp parallel num_threads(2) reduction(+ : threads)
        threads += omp_get_num_threads();
    }
    check("threads of inactive regions", threads, 2);
    return checked("nested", 10, 3);
}
