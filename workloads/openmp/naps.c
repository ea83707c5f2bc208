/*
 * naps: graphs of tasks that sleep instead of computing, so that many threads really run at once on few cores.
 *
 *     naps [SHAPE=tree] [SIZE=0] [MICROSECONDS=1000] [SEED=1]
 *
 * SIZE 0 stands for the default of the shape:
 *     tree      tasks with SIZE=4 generations of 3 children each; a task naps, creates its children, waits for them by taskwait
 *               and naps again (those without children nap once). 3 + 9 + ... + 3^SIZE tasks; the root is no task of its own
 *     wave      SIZE x SIZE tasks (10), each after the one above it and the one left of it, by depend
 *     cholesky  the tasks of a decomposition of SIZE x SIZE blocks (7), by depend: n + n (n - 1) + n (n - 1) (n - 2) / 6
 *     flat      SIZE tasks (200) without order, created by one thread
 *     uneven    like tree, with SIZE=6 generations, but each task has 0 to 4 children, and each child of the root has some
 *     group     SIZE=4 groups one after the other: 3 tasks, each of which naps and creates 3 others, each of which naps and
 *               creates 2 that nap; nobody waits but at the end of the group, after which the root naps
 *     loop      a taskloop of SIZE iterations (200) with as many tasks, which nap
 *     stages    SIZE items (12) through 6 stages: a task for each item and stage, after the stage before of its item and the
 *               item before in its stage, by depend; it naps, creates 2 tasks that nap, waits by taskwait, and naps again
 *
 * Each nap lasts from 0.25 to 1.75 times MICROSECONDS, which follows from SEED and its place in the graph and from nothing else;
 * with SEED 0 each lasts MICROSECONDS. It ends at a deadline, counted from when it begins, that Linux keeps to a few microseconds.
 *
 * Two parallel regions: an empty one that makes the threads, and the one that is measured. Prints the seconds of that one, and
 * what follows from the naps alone: their sum, and the longest chain of naps of which none can begin before the one before it
 * ended. No schedule is shorter than the chain, nor than the sum divided by the number of threads.
 * Checks that it was not, and that all naps were taken. Says how late naps ended, all together: a machine that has other things
 * to do lets them oversleep, and what such a run took says little.
 *
 * A runtime may let the thread that creates tasks run some of them when there are many (libgomp: more than 64 a thread; LLVM:
 * more than 256 in its queue), and a tied task that waits runs only its descendants: that is part of what is to be foretold.
 */
#include "program.h"
#include <omp.h>

enum { MOST = 100 };

static double length_ns;
static uint64_t seed;
static long taken;
/* How long naps lasted beyond their deadlines, all together. */
static int64_t late_ns;
/* What tasks depend on, with a border above and left. */
static char cell[MOST + 1][MOST + 1];

static int64_t nap_ns(uint64_t which)
{
    return (int64_t)(seed == 0 ? length_ns : length_ns * (0.25 + 1.5 * chance(seed, which)));
}

static void nap(uint64_t which)
{
    int64_t deadline = now_ns() + nap_ns(which);
    nap_until(deadline);
    int64_t late = now_ns() - deadline;
#pragma omp atomic
    late_ns += late;
#pragma omp atomic
    taken++;
}

/* What is known of a graph without running it. */
struct known {
    long tasks, naps;
    int64_t work_ns, chain_ns;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add(struct known *known, int64_t length, int64_t end)
{
    known->naps++;
    known->work_ns += length;
    known->chain_ns = later(known->chain_ns, end);
}

/* Children of the node i are 3 i + 1, 3 i + 2 and 3 i + 3; its second nap has an odd number. */
static void tree(long generations, uint64_t node)
{
    nap(2 * node);
    if (generations == 0)
        return;
    for (uint64_t child = 3 * node + 1; child <= 3 * node + 3; child++) {
#pragma omp task firstprivate(generations, child)
        tree(generations - 1, child);
    }
#pragma omp taskwait
    nap(2 * node + 1);
}

/* Returns when the node ends if it begins at this time and nothing but its descendants holds it up. */
static int64_t know_tree(struct known *known, long generations, uint64_t node, int64_t begin)
{
    int64_t end = begin + nap_ns(2 * node);
    add(known, nap_ns(2 * node), end);
    if (generations == 0)
        return end;
    int64_t last = end;
    for (uint64_t child = 3 * node + 1; child <= 3 * node + 3; child++) {
        known->tasks++;
        last = later(last, know_tree(known, generations - 1, child, end));
    }
    add(known, nap_ns(2 * node + 1), last + nap_ns(2 * node + 1));
    return last + nap_ns(2 * node + 1);
}

static uint64_t at(long i, long j, long k)
{
    return (uint64_t)((k * MOST + i) * MOST + j);
}

static void wave(long n)
{
    for (long i = 1; i <= n; i++)
        for (long j = 1; j <= n; j++) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j]) firstprivate(i, j)
            nap(at(i - 1, j - 1, 0));
        }
}

static void know_wave(struct known *known, long n)
{
    static int64_t end[MOST + 1][MOST + 1];
    for (long i = 1; i <= n; i++)
        for (long j = 1; j <= n; j++) {
            int64_t length = nap_ns(at(i - 1, j - 1, 0));
            end[i][j] = later(end[i - 1][j], end[i][j - 1]) + length;
            known->tasks++;
            add(known, length, end[i][j]);
        }
}

/* The nap of the k-th step on the block (i, j) is the same number for all four kinds of tasks. */
static void cholesky(long n)
{
    for (long k = 0; k < n; k++) {
#pragma omp task depend(inout : cell[k][k]) firstprivate(k)
        nap(at(k, k, k));
        for (long i = k + 1; i < n; i++) {
#pragma omp task depend(in : cell[k][k]) depend(inout : cell[i][k]) firstprivate(i, k)
            nap(at(i, k, k));
        }
        for (long i = k + 1; i < n; i++) {
            for (long j = k + 1; j < i; j++) {
#pragma omp task depend(in : cell[i][k], cell[j][k]) depend(inout : cell[i][j]) firstprivate(i, j, k)
                nap(at(i, j, k));
            }
#pragma omp task depend(in : cell[i][k]) depend(inout : cell[i][i]) firstprivate(i, k)
            nap(at(i, i, k));
        }
    }
}

/* A block that is only read is complete: nobody writes it after the step in which others read it. */
static void know_cholesky(struct known *known, long n)
{
    static int64_t end[MOST][MOST];
    for (long k = 0; k < n; k++)
        for (long i = k; i < n; i++)
            for (long j = k; j <= i; j++) {
                int64_t begin = end[i][j], length = nap_ns(at(i, j, k));
                if (j > k)
                    begin = later(begin, later(end[i][k], end[j][k]));
                else if (i > k)
                    begin = later(begin, end[k][k]);
                end[i][j] = begin + length;
                known->tasks++;
                add(known, length, end[i][j]);
            }
}

static void flat(long n)
{
    for (long i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        nap((uint64_t)i);
    }
}

static void know_flat(struct known *known, long n)
{
    for (long i = 0; i < n; i++) {
        known->tasks++;
        add(known, nap_ns((uint64_t)i), nap_ns((uint64_t)i));
    }
}

/* How many children a node has. The numbers of nodes are spread so that all stay apart. */
static int uneven_children(long generations, uint64_t node)
{
    if (generations == 0)
        return 0;
    int children = (int)(5.0 * chance(seed + 1, node));
    return node < 5 && children < 2 ? 2 : children;
}

static void uneven(long generations, uint64_t node)
{
    nap(2 * node);
    int children = uneven_children(generations, node);
    if (children == 0)
        return;
    for (int child = 1; child <= children; child++) {
#pragma omp task firstprivate(generations, node, child)
        uneven(generations - 1, 4 * node + (uint64_t)child);
    }
#pragma omp taskwait
    nap(2 * node + 1);
}

static int64_t know_uneven(struct known *known, long generations, uint64_t node, int64_t begin)
{
    int64_t end = begin + nap_ns(2 * node), last = end;
    add(known, nap_ns(2 * node), end);
    int children = uneven_children(generations, node);
    for (int child = 1; child <= children; child++) {
        known->tasks++;
        last = later(last, know_uneven(known, generations - 1, 4 * node + (uint64_t)child, end));
    }
    if (children == 0)
        return end;
    add(known, nap_ns(2 * node + 1), last + nap_ns(2 * node + 1));
    return last + nap_ns(2 * node + 1);
}

static const int fan_out[] = {3, 3, 2, 0};

static void family(int generation, uint64_t node)
{
    for (int child = 1; child <= fan_out[generation]; child++) {
        uint64_t number = 4 * node + (uint64_t)child;
#pragma omp task firstprivate(generation, number)
        {
            nap(number);
            family(generation + 1, number);
        }
    }
}

static void group(long n)
{
    for (long round = 0; round < n; round++) {
#pragma omp taskgroup
        family(0, (uint64_t)round + 1);
        nap((uint64_t)(100000 + round));
    }
}

static int64_t know_family(struct known *known, int generation, uint64_t node, int64_t begin)
{
    int64_t last = begin;
    for (int child = 1; child <= fan_out[generation]; child++) {
        uint64_t number = 4 * node + (uint64_t)child;
        known->tasks++;
        add(known, nap_ns(number), begin + nap_ns(number));
        last = later(last, know_family(known, generation + 1, number, begin + nap_ns(number)));
    }
    return last;
}

static void know_group(struct known *known, long n)
{
    int64_t now = 0;
    for (long round = 0; round < n; round++) {
        int64_t length = nap_ns((uint64_t)(100000 + round));
        now = know_family(known, 0, (uint64_t)round + 1, now) + length;
        add(known, length, now);
    }
}

static void loop(long n)
{
#pragma omp taskloop num_tasks((unsigned)n)
    for (long i = 0; i < n; i++)
        nap((uint64_t)i);
}

enum { STAGES = 6 };

static void stage(uint64_t number)
{
    nap(4 * number);
    for (uint64_t child = 1; child <= 2; child++) {
#pragma omp task firstprivate(number, child)
        nap(4 * number + child);
    }
#pragma omp taskwait
    nap(4 * number + 3);
}

static void stages(long n)
{
    for (long i = 1; i <= n; i++)
        for (long j = 1; j <= STAGES; j++) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j]) firstprivate(i, j)
            stage(at(i - 1, j - 1, 0));
        }
}

static void know_stages(struct known *known, long n)
{
    static int64_t end[MOST + 1][STAGES + 1];
    for (long i = 1; i <= n; i++)
        for (long j = 1; j <= STAGES; j++) {
            uint64_t number = 4 * at(i - 1, j - 1, 0);
            int64_t first = later(end[i - 1][j], end[i][j - 1]) + nap_ns(number);
            int64_t both = first + later(nap_ns(number + 1), nap_ns(number + 2));
            end[i][j] = both + nap_ns(number + 3);
            add(known, nap_ns(number), first);
            add(known, nap_ns(number + 1), first + nap_ns(number + 1));
            add(known, nap_ns(number + 2), first + nap_ns(number + 2));
            add(known, nap_ns(number + 3), end[i][j]);
            known->tasks += 3;
        }
}

enum shape { TREE, WAVE, CHOLESKY, FLAT, UNEVEN, GROUP, LOOP, STAGED, SHAPES };

static struct known know(enum shape shape, long size)
{
    struct known known = {0, 0, 0, 0};
    switch (shape) {
    case TREE: know_tree(&known, size, 0, 0); break;
    case WAVE: know_wave(&known, size); break;
    case CHOLESKY: know_cholesky(&known, size); break;
    case UNEVEN: know_uneven(&known, size, 0, 0); break;
    case GROUP: know_group(&known, size); break;
    case STAGED: know_stages(&known, size); break;
    default: know_flat(&known, size);
    }
    return known;
}

static void run(enum shape shape, long size)
{
    switch (shape) {
    case TREE: tree(size, 0); break;
    case WAVE: wave(size); break;
    case CHOLESKY: cholesky(size); break;
    case FLAT: flat(size); break;
    case UNEVEN: uneven(size, 0); break;
    case GROUP: group(size); break;
    case LOOP: loop(size); break;
    default: stages(size);
    }
}

int main(int argc, char **argv)
{
    const char *shapes[SHAPES] = {"tree", "wave", "cholesky", "flat", "uneven", "group", "loop", "stages"};
    const char *name = argc > 1 ? argv[1] : "tree";
    const long sizes[SHAPES] = {4, 10, 7, 200, 6, 4, 200, 12};
    const long most[SHAPES] = {12, MOST, MOST, 10000000, 20, 10000, 10000000, MOST};
    int shape = 0;
    while (shape < SHAPES && strcmp(shapes[shape], name) != 0)
        shape++;
    if (shape == SHAPES) {
        fprintf(stderr, "naps: argument 1 is tree, wave, cholesky, flat, uneven, group, loop or stages, not %s\n", name);
        return 2;
    }
    long size = number(argc, argv, 2, 0, 0, most[shape]);
    if (size == 0)
        size = sizes[shape];
    length_ns = 1e3 * (double)number(argc, argv, 3, 1000, 0, 1000000000);
    seed = (uint64_t)number(argc, argv, 4, 1, 0, INT32_MAX);
    struct known known = know(shape, size);

    nap_exactly();
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();

    int64_t begin = now_ns();
#pragma omp parallel
#pragma omp single
    run(shape, size);
    int64_t elapsed = now_ns() - begin;
    printf("naps: %.6f s, %s %ld on %d threads, naps %ld of %.6f s, longest chain %.6f s, late %.6f s, regions 2, tasks %ld\n",
           (double)elapsed / 1e9, name, size, threads, taken, (double)known.work_ns / 1e9, (double)known.chain_ns / 1e9,
           (double)late_ns / 1e9, known.tasks);
    return taken == known.naps && elapsed >= known.chain_ns && elapsed >= known.work_ns / threads ? 0 : 1;
}
