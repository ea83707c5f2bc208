/*
 * reductions: all operators, arrays, a reduction of the program's own, and prefix sums.
 *
 * 5 parallel regions, no tasks.
 */
#include "check.h"

enum { N = 1000 };

struct range {
    int low, high;
};

static void widen(struct range *all, struct range more)
{
    all->low = more.low < all->low ? more.low : all->low;
    all->high = more.high > all->high ? more.high : all->high;
}

#pragma omp declare reduction(widest : struct range : widen(&omp_out, omp_in)) initializer(omp_priv = {1 << 30, -(1 << 30)})

int main(void)
{
    long sum = 0, product = 1;
    int and = ~0, or = 0, exclusive = 0, all = 1, any = 0, least = 1 << 30, most = 0;
#pragma omp parallel for reduction(+ : sum) reduction(* : product) reduction(& : and) reduction(| : or) reduction(^ : exclusive) \
    reduction(&& : all) reduction(|| : any) reduction(min : least) reduction(max : most)
    for (int i = 1; i < N; i++) {
        sum += i;
        product *= i % 100 == 0 ? 3 : 1;
        and &= i | 4096;
        or |= i;
        exclusive ^= i;
        all = all && i > 0;
        any = any || i == 500;
        least = i < least ? i : least;
        most = i > most ? i : most;
    }
    check("+", sum, 499500);
    check("*", product, 19683);
    check("&", and, 4096);
    check("|", or, 1023);
    check("^", exclusive, 0);
    check("&&", all, 1);
    check("||", any, 1);
    check("min", least, 1);
    check("max", most, 999);

    struct range range = {1 << 30, -(1 << 30)};
#pragma omp parallel for reduction(widest : range) schedule(dynamic, 16)
    for (int i = 0; i < N; i++)
        widen(&range, (struct range){i * 37 % N - 10, i * 37 % N - 10});
    check("low", range.low, -10);
    check("high", range.high, 989);

    long digit[10] = {0};
#pragma omp parallel for reduction(+ : digit[:10])
    for (int i = 0; i < N; i++)
        digit[i % 10] += i;
    check("array", digit[3], 3 * 100 + 10 * 4950);

    long of_region = 0, threads = 0;
#pragma omp parallel reduction(+ : of_region) reduction(+ : threads)
    {
        of_region += 2;
        threads++;
    }
    check("region", of_region, 2 * threads);

    static long prefix[N];
    long running = 0, wrong = 0;
#pragma omp parallel for reduction(inscan, + : running)
    for (int i = 0; i < N; i++) {
        running += i;
#pragma omp scan inclusive(running)
        prefix[i] = running;
    }
    for (long i = 0; i < N; i++)
        wrong += prefix[i] != i * (i + 1) / 2;
    check("wrong prefix sums", wrong, 0);
    return checked("reductions", 5, 0);
}
