/*
 * known: programs whose work, span and losses are known by construction, for what Kizami says of them on a busy machine.
 *
 *     known [MODE=chain] [nap|spin] [PER_CENT=100]
 *
 * nap sleeps, and takes no core; spin uses exactly that much processor time of its thread. All lengths are scaled by PER_CENT.
 *     chain     20 tasks of 5 ms that follow each other and 60 free ones of 5 ms: work 400 ms, span 100 ms
 *     tree      7 generations of 2 children, 2 ms before they are created and 1 ms after the wait: 127 nodes, work 381 ms,
 *               span 21 ms
 *     wave      12 x 12 tasks of 3 ms, each after the one above it and the one left of it: work 432 ms, span 69 ms
 *     loop      a taskloop of 64 tasks of 4 ms: work 256 ms, span 4 ms
 *     tiny      20,000 tasks of 20 us: work 400 ms, span 20 us
 *     static    10 times a loop of 64 iterations, iteration i of which takes i x 0.1 ms, with schedule(static): the last of 4
 *               threads has 1.75 times the mean; dividing it evenly saves 43 %
 *     serial    5 times 20 ms on one thread, then 4 threads for 10 ms each: with 4 threads, sharing saves 50 %
 *
 * Prints the seconds it took, and how many regions and tasks it has. `bench/openmp_known.py` compares what Kizami says with these figures.
 */
#include "program.h"
#include <omp.h>
#include <stdbool.h>

static bool spins;
static double scale = 1.0;

static int64_t thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void work(double milliseconds)
{
    int64_t length_ns = (int64_t)(milliseconds * scale * 1e6);
    if (!spins) {
        nap_until(now_ns() + length_ns);
        return;
    }
    int64_t end_ns = thread_ns() + length_ns;
    while (thread_ns() < end_ns)
        for (volatile int i = 0; i < 500; i++)
            ;
}

static void tree(int generations)
{
    work(2);
    if (generations > 1) {
#pragma omp task
        tree(generations - 1);
#pragma omp task
        tree(generations - 1);
#pragma omp taskwait
    }
    work(1);
}

static void chain(void)
{
    char last = 0;
    (void)last;
    for (int i = 0; i < 20; i++)
#pragma omp task depend(inout : last)
        work(5);
    for (int i = 0; i < 60; i++)
#pragma omp task
        work(5);
}

static void wave(void)
{
    static char at[13][13];
    (void)at;
    for (int i = 1; i < 13; i++)
        for (int j = 1; j < 13; j++)
#pragma omp task depend(in : at[i - 1][j], at[i][j - 1]) depend(out : at[i][j])
            work(3);
}

static void tasks(const char *mode)
{
#pragma omp parallel
#pragma omp single
    {
        if (strcmp(mode, "chain") == 0)
            chain();
        else if (strcmp(mode, "tree") == 0)
            tree(7);
        else if (strcmp(mode, "wave") == 0)
            wave();
        else if (strcmp(mode, "loop") == 0) {
#pragma omp taskloop grainsize(1)
            for (int i = 0; i < 64; i++)
                work(4);
        } else {
            for (int i = 0; i < 20000; i++)
#pragma omp task
                work(0.02);
        }
    }
}

static void uneven(void)
{
    for (int k = 0; k < 10; k++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++)
            work(i * 0.1);
    }
}

static void serial(void)
{
    for (int k = 0; k < 5; k++) {
        work(20);
#pragma omp parallel
        work(10);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        long regions, tasks;
    } modes[] = {{"chain", 1, 80}, {"tree", 1, 126}, {"wave", 1, 144}, {"loop", 1, 64}, {"tiny", 1, 20000}, {"static", 10, 0}, {"serial", 5, 0}};
    size_t place = 0, count = sizeof modes / sizeof *modes;
    const char *mode = argc > 1 ? argv[1] : "chain", *how = argc > 2 ? argv[2] : "nap";
    while (place < count && strcmp(mode, modes[place].name) != 0)
        place++;
    spins = strcmp(how, "spin") == 0;
    if (place == count || (!spins && strcmp(how, "nap") != 0)) {
        fprintf(stderr, "%s: a mode (chain, tree, wave, loop, tiny, static, serial), then nap or spin\n", argv[0]);
        return 2;
    }
    scale = (double)number(argc, argv, 3, 100, 1, 1000) / 100;
    nap_exactly();
    int64_t begin_ns = now_ns();
    if (strcmp(mode, "static") == 0)
        uneven();
    else if (strcmp(mode, "serial") == 0)
        serial();
    else
        tasks(mode);
    double seconds = (double)(now_ns() - begin_ns) / 1e9;
    printf("known: %s %s took %.4f s, regions %ld, tasks %ld\n", mode, how, seconds, modes[place].regions, modes[place].tasks);
    return 0;
}
