/*
 * client: a library that uses OpenMP in many ways; `several` loads it once for each runtime. What the functions give
 * is wrong as soon as one call goes to another runtime than the others.
 */
#include <omp.h>

long client_loops(void)
{
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(4)
    for (long i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 7)
        for (long i = 0; i < 1000; i++)
            sum += i;
#pragma omp single
        sum += 1;
#pragma omp critical
        sum += omp_get_thread_num();
    }
    return sum;
}

long client_tasks(void)
{
    long sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (long i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) shared(sum)
            __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
        }
#pragma omp taskloop shared(sum) grainsize(3)
        for (long i = 0; i < 20; i++)
            __atomic_fetch_add(&sum, 100, __ATOMIC_RELAXED);
    }
    return sum;
}

long client_locks(void)
{
    long sum = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 100; i++) {
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return sum;
}
