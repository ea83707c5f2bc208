/*
 * taskloop_objects: a taskloop each of whose tasks gets a copy of a C++ object, and one with an object as its sum.
 *
 * 1 parallel region, 10 + 8 + 7 tasks (num_tasks). Every object that is made is also destroyed.
 */
#include "check.h"
#include <atomic>
#include <vector>

static std::atomic<long> alive{0};

struct counted {
    std::vector<long> numbers;
    explicit counted(int n) : numbers(n) { alive++; }
    counted(const counted &other) : numbers(other.numbers) { alive++; }
    counted &operator=(const counted &other) = default;
    ~counted() { alive--; }
};

struct total {
    std::vector<long> parts{0, 0};
    total &operator+=(const total &other)
    {
        parts[0] += other.parts[0];
        parts[1] += other.parts[1];
        return *this;
    }
};

#pragma omp declare reduction(add : total : omp_out += omp_in)

int main()
{
    std::atomic<long> sum{0};
    total both;
    std::vector<int> values(70, 2);
    long of_iterators = 0;
    {
        counted object(100);
        for (int i = 0; i < 100; i++)
            object.numbers[i] = i;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskloop num_tasks(10) firstprivate(object) shared(sum)
            for (int i = 0; i < 100; i++) {
                /* Own to the task: the next iteration sees it. */
                object.numbers[0] += 1;
                sum += object.numbers[i] - (i == 0 ? object.numbers[0] : 0);
            }
#pragma omp taskloop num_tasks(8) reduction(add : both)
            for (int i = 0; i < 100; i++)
                both.parts[i % 2] += i;
#pragma omp taskloop num_tasks(7) reduction(+ : of_iterators)
            for (auto value = values.begin(); value < values.end(); ++value)
                of_iterators += *value;
        }
    }
    check("sum", sum, 4950);
    check("sum of even ones", both.parts[0], 2450);
    check("sum of odd ones", both.parts[1], 2500);
    check("sum of a vector", of_iterators, 140);
    check("objects that are alive", alive, 0);
    return checked("taskloop_objects", 1, 25);
}
