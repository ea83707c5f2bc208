/* part: what `loaded` loads. A region of 10 tasks, whose sum is 45. */
long part(int threads)
{
    long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) shared(sum)
        __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
    }
    return sum;
}
