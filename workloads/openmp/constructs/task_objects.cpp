/*
 * task_objects: tasks that get copies of C++ objects, of aligned and of large data.
 *
 * 1 parallel region, 100 + 10 + 10 tasks. Every object that is made is also destroyed.
 */
#include "check.h"
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

static std::atomic<long> alive{0}, copies{0};

struct counted {
    std::vector<int> numbers;
    std::string name;
    explicit counted(int n) : numbers(n, 1), name(std::to_string(n) + " numbers, in a text that is not short") { alive++; }
    counted(const counted &other) : numbers(other.numbers), name(other.name)
    {
        alive++;
        copies++;
    }
    counted &operator=(const counted &) = delete;
    ~counted() { alive--; }
};

struct alignas(64) aligned {
    double number[8];
};

struct large {
    int number[5000];
};

int main()
{
    std::atomic<long> sum{0}, misaligned{0}, of_aligned{0}, of_large{0}, letters{0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; i++) {
            counted object(i);
#pragma omp task firstprivate(object) shared(sum, letters)
            {
                sum += static_cast<long>(object.numbers.size());
                letters += object.name[0] - '0';
            }
        }
        for (int i = 0; i < 10; i++) {
            aligned data{{0, 1, 2, 3, 4, 5, 6, static_cast<double>(i)}};
#pragma omp task firstprivate(data) shared(misaligned, of_aligned)
            {
                misaligned += reinterpret_cast<std::uintptr_t>(&data) % 64 != 0;
                of_aligned += static_cast<long>(data.number[7]);
            }
        }
        for (int i = 0; i < 10; i++) {
            large data{};
            data.number[4999] = i;
#pragma omp task firstprivate(data) shared(of_large)
            of_large += data.number[4999];
        }
    }
    check("sum", sum, 4950);
    check("sum of first digits", letters, 45 * 10 + 45);
    check("objects that are alive", alive, 0);
    check("whether there were too few copies", copies < 100, 0);
    check("misaligned data", misaligned, 0);
    check("sum of aligned data", of_aligned, 45);
    check("sum of large data", of_large, 45);
    return checked("task_objects", 1, 120);
}
