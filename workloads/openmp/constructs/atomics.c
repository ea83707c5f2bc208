/*
 * atomics: atomic reads, writes, updates and captures, flush and barriers.
 *
 * 2 parallel regions, no tasks; 10 barriers in the first one, besides those at its end and that of its single.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    long sum = 0, ticket = 0, drawn = 0;
    int phase = 0, threads = 1, behind = 0;
    double real = 0;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        for (int round = 1; round <= 10; round++) {
            int seen;
#pragma omp atomic
            phase++;
#pragma omp barrier
#pragma omp atomic read
            seen = phase;
            if (seen < round * threads) {
#pragma omp atomic
                behind++;
            }
        }
    }
    check("threads that passed a barrier too early", behind, 0);

#pragma omp parallel for schedule(dynamic, 10)
    for (int i = 0; i < 1000; i++) {
        long mine;
#pragma omp atomic capture
        mine = ticket++;
#pragma omp atomic seq_cst
        drawn += mine;
#pragma omp atomic update
        real += 0.5;
#pragma omp flush
#pragma omp atomic
        sum ^= i;
    }
    check("sum of the tickets", drawn, 499500);
    check("real number", (long)real, 500);
    long wanted = 0;
    for (int i = 0; i < 1000; i++)
        wanted ^= i;
    check("exclusive or", sum, wanted);
    return checked("atomics", 2, 0);
}
