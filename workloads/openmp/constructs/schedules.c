/*
 * schedules: loops in all schedules, with and without pieces of a size, ordered ways to hand them out and chosen at run time.
 *
 * 17 parallel regions, no tasks: 9 loops of 1000 iterations by type, 6 chosen by omp_set_schedule, 1 with three loops without
 * barriers between them (nowait), 1 with collapse and lastprivate.
 */
#include "check.h"
#include <omp.h>

enum { N = 1000 };

static int times[N];

static void check_all(const char *what, int wanted)
{
    long wrong = 0;
    for (int i = 0; i < N; i++) {
        wrong += times[i] != wanted;
        times[i] = 0;
    }
    check(what, wrong, 0);
}

int main(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++)
        times[i]++;
    check_all("static", 1);
#pragma omp parallel for schedule(static, 7)
    for (int i = N - 1; i >= 0; i--)
        times[i]++;
    check_all("static, 7", 1);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < N; i++)
        times[i]++;
    check_all("dynamic", 1);
#pragma omp parallel for schedule(dynamic, 13)
    for (long i = 0; i < N; i += 1)
        times[i]++;
    check_all("dynamic, 13", 1);
#pragma omp parallel for schedule(guided)
    for (unsigned i = 0; i < N; i++)
        times[i]++;
    check_all("guided", 1);
#pragma omp parallel for schedule(guided, 5)
    for (unsigned long i = 0; i < N; i++)
        times[i]++;
    check_all("guided, 5", 1);
#pragma omp parallel for schedule(auto)
    for (int i = 0; i < N; i++)
        times[i]++;
    check_all("auto", 1);
#pragma omp parallel for schedule(nonmonotonic : dynamic, 3)
    for (int i = 0; i < N; i++)
        times[i]++;
    check_all("nonmonotonic dynamic", 1);
#pragma omp parallel for schedule(monotonic : guided)
    for (int i = 0; i < N; i++)
        times[i]++;
    check_all("monotonic guided", 1);

    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
    for (int kind = 0; kind < 6; kind++) {
        omp_set_schedule(kinds[kind / 2], kind % 2 == 0 ? 0 : 9);
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < N; i++)
            times[i]++;
        check_all("runtime", 1);
    }

#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < N; i++) {
#pragma omp atomic
            times[i]++;
        }
#pragma omp for schedule(dynamic, 10) nowait
        for (int i = 0; i < N; i++) {
#pragma omp atomic
            times[i]++;
        }
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < N; i++) {
#pragma omp atomic
            times[i]++;
        }
    }
    check_all("three loops without barriers", 3);

    int last = 0;
#pragma omp parallel
    {
/* Monotonic: LLVM 19's runtime loses the last value when threads take pieces from each other. */
#pragma omp for collapse(2) lastprivate(last) schedule(monotonic : dynamic)
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < N / 10; j++) {
                times[i * (N / 10) + j]++;
                last = i * 1000 + j;
            }
    }
    check_all("collapse", 1);
    check("last", last, 9099);
    return checked("schedules", 17, 0);
}
