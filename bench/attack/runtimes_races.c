/* Loops, barriers and tasks without a race, which ThreadSanitizer sees only with the help of a tool for OpenMP; with the
 * word "race" as argument, with one. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static int cells[1000];

int main(int count, char **words)
{
    long sum = 0;
    int chain = 0, raced = 0, race = count > 1 && !strcmp(words[1], "race");
#ifdef WITH_MPI
    MPI_Init(&count, &words);
#endif
    for (int round = 0; round < 50; round++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp for
            for (int i = 0; i < 1000; i++)
                cells[i] += i;
#pragma omp single
            for (int i = 0; i < 1000; i++)
                cells[i]++;
#pragma omp for reduction(+ : sum)
            for (int i = 0; i < 1000; i++)
                sum += cells[999 - i];
#pragma omp barrier
#pragma omp master
            cells[5] = 7;
#pragma omp barrier
            if (race)
                raced++;
        }
    }
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : chain) shared(chain)
        chain++;
    }
    printf("%ld %d %d\n", sum, chain, race && raced > 0);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
