/*
 * sort: merge sort whose halves and merges are tasks.
 *
 *     sort [KEYS=200000] [CUTOFF=4096] [SEED=1]
 *
 * A part of more than CUTOFF keys is sorted by 2 tasks, one for each half, then merged. A merge of more than CUTOFF keys is 2
 * tasks, one for each half of what comes out: where these begin in what goes in is found by bisection, so that the number of
 * tasks does not depend on the keys.
 *
 * One parallel region. Tasks: S(n) = 2 + S(n / 2) + S(n - n / 2) + M(n) with M(n) = 2 + M(n / 2) + M(n - n / 2), both 0
 * for n <= CUTOFF; a taskwait for each two tasks. The number is printed.
 * Checks that the keys are in order and that they are the same keys by two sums.
 */
#include "program.h"

static long cutoff;

static int compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* How many of the first `out` merged keys come from a. */
static long from_a(const uint32_t *a, long in_a, const uint32_t *b, long in_b, long out)
{
    long low = out > in_b ? out - in_b : 0, high = out < in_a ? out : in_a;
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (a[middle] <= b[out - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge(const uint32_t *a, long in_a, const uint32_t *b, long in_b, uint32_t *out)
{
    long all = in_a + in_b;
    if (all <= cutoff) {
        while (in_a > 0 && in_b > 0) {
            if (*a <= *b) {
                *out++ = *a++;
                in_a--;
            } else {
                *out++ = *b++;
                in_b--;
            }
        }
        memcpy(out, a, (size_t)in_a * sizeof *a);
        memcpy(out + in_a, b, (size_t)in_b * sizeof *b);
        return;
    }
    long half = all / 2, of_a = from_a(a, in_a, b, in_b, half), of_b = half - of_a;
#pragma omp task firstprivate(a, b, of_a, of_b, out)
    merge(a, of_a, b, of_b, out);
#pragma omp task firstprivate(a, b, in_a, in_b, of_a, of_b, out, half)
    merge(a + of_a, in_a - of_a, b + of_b, in_b - of_b, out + half);
#pragma omp taskwait
}

static void sort(uint32_t *keys, uint32_t *room, long n)
{
    if (n <= cutoff) {
        qsort(keys, (size_t)n, sizeof *keys, compare);
        return;
    }
    long half = n / 2;
#pragma omp task firstprivate(keys, room, half)
    sort(keys, room, half);
#pragma omp task firstprivate(keys, room, half, n)
    sort(keys + half, room + half, n - half);
#pragma omp taskwait
    merge(keys, half, keys + half, n - half, room);
    memcpy(keys, room, (size_t)n * sizeof *keys);
}

static long merge_tasks(long n)
{
    return n <= cutoff ? 0 : 2 + merge_tasks(n / 2) + merge_tasks(n - n / 2);
}

static long sort_tasks(long n)
{
    return n <= cutoff ? 0 : 2 + sort_tasks(n / 2) + sort_tasks(n - n / 2) + merge_tasks(n);
}

int main(int argc, char **argv)
{
    long n = number(argc, argv, 1, 200000, 1, 1000000000);
    cutoff = number(argc, argv, 2, 4096, 1, 1000000000);
    uint64_t seed = (uint64_t)number(argc, argv, 3, 1, 0, INT32_MAX);
    uint32_t *keys = memory((size_t)n * sizeof *keys), *room = memory((size_t)n * sizeof *room);
    uint64_t sum = 0, squares = 0;
    for (long i = 0; i < n; i++) {
        keys[i] = (uint32_t)(chance(seed, (uint64_t)i) * 4294967296.0);
        sum += keys[i];
        squares += (uint64_t)keys[i] * keys[i];
    }
#pragma omp parallel
#pragma omp single
    sort(keys, room, n);
    int wrong = 0;
    for (long i = 0; i < n; i++) {
        wrong |= i > 0 && keys[i - 1] > keys[i];
        sum -= keys[i];
        squares -= (uint64_t)keys[i] * keys[i];
    }
    wrong |= sum != 0 || squares != 0;
    printf("sort: %ld keys from %u to %u, regions 1, tasks %ld\n", n, keys[0], keys[n - 1], sort_tasks(n));
    free(keys);
    free(room);
    return wrong;
}
