/*
 * exceptions: exceptions that are thrown and caught within tasks, loops and critical sections.
 *
 * 2 parallel regions, 50 tasks; 10 exceptions in tasks, 100 in iterations.
 */
#include "check.h"
#include <atomic>
#include <stdexcept>

static int careful(int i)
{
    if (i % 5 == 0)
        throw std::runtime_error("a multiple of five");
    return i;
}

int main()
{
    std::atomic<long> sum{0}, caught{0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(i) shared(sum, caught)
        {
            try {
                sum += careful(i);
            } catch (const std::runtime_error &) {
                caught++;
            }
        }
    }
    check("sum", sum, 1225 - 225);
    check("exceptions of tasks", caught, 10);

    long in_critical = 0;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 500; i++) {
#pragma omp critical
        {
            try {
                careful(i);
            } catch (const std::exception &) {
                in_critical++;
            }
        }
    }
    check("exceptions of iterations", in_critical, 100);
    return checked("exceptions", 2, 50);
}
