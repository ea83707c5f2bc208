/*
 * host_threads: threads of the program's own that each begin parallel regions, at once and one after the other; some are gone
 * before the next begins.
 *
 * 3 x 4 + 2 x 4 + 1 parallel regions, 12 x 10 tasks: 3 threads at once with 4 regions of 10 tasks each, then 2 threads in a row
 * with 4 regions each, then the main thread with 1.
 */
#include "check.h"
#include <atomic>
#include <thread>
#include <vector>

static std::atomic<long> sum{0};

static void with_tasks()
{
    for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(2)
#pragma omp single
        for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) shared(sum)
            sum += i;
        }
    }
}

static void with_loops()
{
    for (int round = 0; round < 4; round++) {
        long mine = 0;
#pragma omp parallel for reduction(+ : mine)
        for (int i = 0; i < 100; i++)
            mine += i;
        sum += mine;
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(with_tasks);
    for (auto &thread : threads)
        thread.join();
    check("sum of tasks", sum, 540);
    sum = 0;
    for (int i = 0; i < 2; i++)
        std::thread(with_loops).join();
    check("sum of loops", sum, 8 * 4950);
    long last = 0;
#pragma omp parallel for reduction(+ : last)
    for (int i = 0; i < 100; i++)
        last += i;
    check("sum of the main thread", last, 4950);
    return checked("host_threads", 21, 120);
}
