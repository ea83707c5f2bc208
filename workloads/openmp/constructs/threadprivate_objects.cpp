/*
 * threadprivate_objects: C++ objects of threads, made when a thread first needs them and copied in.
 *
 * 2 parallel regions, no tasks.
 */
#include "check.h"
#include <omp.h>
#include <vector>

struct numbers {
    std::vector<int> all{1, 2, 3};
};

/* Declared first: to gcc the constructor's call is a use, and threadprivate must come before it. */
extern numbers own;
#pragma omp threadprivate(own)
numbers own;

int main()
{
    long threads = 0, made = 0, copied = 0;
    omp_set_dynamic(0);
#pragma omp parallel reduction(+ : threads, made)
    {
        threads++;
        made += own.all.size() == 3;
        own.all.push_back(omp_get_thread_num());
    }
    check("objects that were made", made, threads);
    own.all.assign(5, 7);
#pragma omp parallel copyin(own) reduction(+ : copied)
    copied += own.all.size() == 5 && own.all[4] == 7;
    check("objects that were copied", copied, threads);
    return checked("threadprivate_objects", 2, 0);
}
