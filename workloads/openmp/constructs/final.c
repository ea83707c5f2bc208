/*
 * final: final tasks, whose descendants run at once, and mergeable ones.
 *
 * 1 parallel region, 3 x (1 + 2 + 4) tasks: three trees; the first is final from its root on, the second from its second
 * generation on, the third is mergeable with undeferred children.
 */
#include "check.h"
#include <omp.h>

static void tree(int generation, int final_from, int *in_final)
{
    if (generation == 3)
        return;
    for (int i = 0; i < (generation == 0 ? 1 : 2); i++) {
#pragma omp task final(generation >= final_from) mergeable firstprivate(generation, final_from) shared(in_final)
        {
            if (omp_in_final()) {
#pragma omp atomic
                ++*in_final;
            }
            tree(generation + 1, final_from, in_final);
        }
    }
#pragma omp taskwait
}

static void merged(int generation, int *seen)
{
    if (generation == 3)
        return;
    for (int i = 0; i < (generation == 0 ? 1 : 2); i++) {
#pragma omp task mergeable if (generation == 0) firstprivate(generation) shared(seen)
        {
#pragma omp atomic
            ++*seen;
            merged(generation + 1, seen);
        }
    }
#pragma omp taskwait
}

int main(void)
{
    int from_root = 0, from_second = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
        tree(0, 0, &from_root);
        tree(0, 1, &from_second);
        merged(0, &seen);
    }
    check("final tasks", from_root, 7);
    check("final tasks of the second generation on", from_second, 6);
    check("mergeable tasks", seen, 7);
    return checked("final", 1, 21);
}
