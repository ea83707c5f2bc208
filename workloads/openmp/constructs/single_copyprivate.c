/*
 * single_copyprivate: what one thread reads is handed to all; single with nowait; master and masked.
 *
 * 2 parallel regions, no tasks; 1 + 10 single constructs.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int threads = 0, agreed = 0, once = 0, masters = 0, masked = 0;
#pragma omp parallel
    {
        int key = -1;
        double factor = 0;
#pragma omp single copyprivate(key, factor)
        {
            key = 7;
            factor = 0.5;
        }
#pragma omp atomic
        threads++;
        if (key == 7 && factor == 0.5) {
#pragma omp atomic
            agreed++;
        }
    }
    check("threads that got what one read", agreed, threads);

#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
#pragma omp single nowait
            {
#pragma omp atomic
                once++;
            }
        }
#pragma omp barrier
#pragma omp master
        masters += 1;
#pragma omp masked filter(omp_get_num_threads() - 1)
        masked += 1 + omp_get_thread_num();
    }
    check("single constructs", once, 10);
    check("masters", masters, 1);
    check("masked", masked, threads);
    return checked("single_copyprivate", 2, 0);
}
