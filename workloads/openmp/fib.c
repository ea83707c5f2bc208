/*
 * fib: Fibonacci numbers by recursion, two tasks and a taskwait in each call. The smallest tasks there are.
 *
 *     fib [N=22] [CUTOFF=8] [MODE=plain]
 *
 * MODE says what happens at the depth CUTOFF and below it:
 *     plain   no more tasks, only calls
 *     if      tasks, but undeferred: task if(0)
 *     final   tasks of a final one: they are included in it
 *
 * One parallel region. In each call fib(n) with n >= 2 that is above CUTOFF (the first call has depth 0) 2 tasks and 1
 * taskwait; with if and final in all calls with n >= 2, which makes 2 (fib(N + 1) - 1) tasks. The number is printed.
 * Checks the result against the loop.
 */
#include "program.h"

enum mode { PLAIN, IF, FINAL };

static int cutoff;

static long plain(int n)
{
    return n < 2 ? n : plain(n - 1) + plain(n - 2);
}

static long with_plain(int n, int depth)
{
    if (n < 2)
        return n;
    if (depth >= cutoff)
        return plain(n);
    long a, b;
#pragma omp task shared(a) firstprivate(n, depth)
    a = with_plain(n - 1, depth + 1);
#pragma omp task shared(b) firstprivate(n, depth)
    b = with_plain(n - 2, depth + 1);
#pragma omp taskwait
    return a + b;
}

static long with_if(int n, int depth)
{
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a) firstprivate(n, depth) if (depth < cutoff)
    a = with_if(n - 1, depth + 1);
#pragma omp task shared(b) firstprivate(n, depth) if (depth < cutoff)
    b = with_if(n - 2, depth + 1);
#pragma omp taskwait
    return a + b;
}

static long with_final(int n, int depth)
{
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a) firstprivate(n, depth) final(depth >= cutoff)
    a = with_final(n - 1, depth + 1);
#pragma omp task shared(b) firstprivate(n, depth) final(depth >= cutoff)
    b = with_final(n - 2, depth + 1);
#pragma omp taskwait
    return a + b;
}

static long tasks(int n, int depth, int limit)
{
    return n < 2 || depth >= limit ? 0 : 2 + tasks(n - 1, depth + 1, limit) + tasks(n - 2, depth + 1, limit);
}

int main(int argc, char **argv)
{
    int n = (int)number(argc, argv, 1, 22, 0, 80);
    cutoff = (int)number(argc, argv, 2, 8, 0, 1000);
    const char *name = argc > 3 ? argv[3] : "plain";
    enum mode mode = strcmp(name, "if") == 0 ? IF : strcmp(name, "final") == 0 ? FINAL : PLAIN;
    if (mode == PLAIN && strcmp(name, "plain") != 0) {
        fprintf(stderr, "fib: argument 3 is plain, if or final, not %s\n", name);
        return 2;
    }
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = mode == IF ? with_if(n, 0) : mode == FINAL ? with_final(n, 0) : with_plain(n, 0);
    long before = 0, wanted = 1;
    for (int i = 0; i < n; i++) {
        long next = before + wanted;
        before = wanted;
        wanted = next;
    }
    printf("fib: fib(%d) is %ld, regions 1, tasks %ld\n", n, result, tasks(n, 0, mode == PLAIN ? cutoff : n));
    return result == before ? 0 : 1;
}
