/*
 * taskloop: how long the Collatz sequences of the numbers below N are, by loops whose pieces are tasks.
 *
 *     taskloop [N=40000] [GRAIN=500] [TASKS=16] [ROUNDS=4]
 *
 * Sequences are of very different lengths, so that pieces are too. Each round has two loops by one thread, each in a taskgroup
 * of its own as taskloop has it: one with grainsize(GRAIN) that writes the lengths, one with num_tasks(TASKS) and a reduction
 * that sums them.
 *
 * GRAIN divides N, because otherwise runtimes may choose. One parallel region, 2 ROUNDS taskloops,
 * ROUNDS (N / GRAIN + min(TASKS, N)) tasks. LLVM's runtime halves a loop of more than 10 tasks a thread, again and again, by further
 * tasks that only create tasks: they are not counted in what is printed. libgomp has none of them.
 * Checks the sum against the loop of one thread.
 */
#include "program.h"

static int length(long from)
{
    int steps = 0;
    for (uint64_t x = (uint64_t)from; x > 1; steps++)
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    return steps;
}

int main(int argc, char **argv)
{
    long n = number(argc, argv, 1, 40000, 1, 100000000), grain = number(argc, argv, 2, 500, 1, 100000000);
    long tasks = number(argc, argv, 3, 16, 1, 100000000), rounds = number(argc, argv, 4, 4, 1, 1000000);
    if (n % grain != 0) {
        fprintf(stderr, "taskloop: GRAIN divides N\n");
        return 2;
    }
    int *lengths = memory((size_t)n * sizeof *lengths);
    long sum = 0;
#pragma omp parallel
#pragma omp single
    for (long round = 0; round < rounds; round++) {
#pragma omp taskloop grainsize(grain) shared(lengths)
        for (long i = 0; i < n; i++)
            lengths[i] = length(i);
#pragma omp taskloop num_tasks(tasks) shared(lengths) reduction(+ : sum)
        for (long i = 0; i < n; i++)
            sum += lengths[i];
    }
    free(lengths);
    long wanted = 0;
    for (long i = 0; i < n; i++)
        wanted += length(i);
    printf("taskloop: sequences have %ld steps, regions 1, tasks %ld\n", sum / rounds,
           rounds * (n / grain + (tasks < n ? tasks : n)));
    return sum == wanted * rounds ? 0 : 1;
}
