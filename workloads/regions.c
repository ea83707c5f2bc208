/*
 * regions: marks the parts of a small program with kizami.h.
 *
 *     regions [ITERATIONS=5]
 *
 * The regions, nested as indented, and how often each is entered:
 *     setup                 1
 *     solve                 1
 *         exchange          ITERATIONS
 *         reduce            ITERATIONS
 *
 * Calls of each rank:
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *     MPI_Pcontrol 4 + 4 x ITERATIONS
 *     MPI_Bcast 1 (in setup; 8 bytes from rank 0)
 *     MPI_Sendrecv ITERATIONS (in exchange; 8 bytes, tag 3, to rank + 1, from
 *     rank - 1, modulo the number of ranks)
 *     MPI_Allreduce ITERATIONS (in reduce; 8 bytes)
 */
#include "kizami.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAG = 3 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int iterations = argc > 1 ? atoi(argv[1]) : 5;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    KIZAMI_REGION_BEGIN("setup");
    long start = rank == 0 ? 42 : 0;
    MPI_Bcast(&start, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    KIZAMI_REGION_END("setup");

    long mine = start + rank, sum = 0;
    KIZAMI_REGION_BEGIN("solve");
    for (int i = 0; i < iterations; i++) {
        KIZAMI_REGION_BEGIN("exchange");
        long received;
        MPI_Sendrecv(&mine, 1, MPI_LONG, right, TAG, &received, 1, MPI_LONG, left, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = received + 1;
        KIZAMI_REGION_END("exchange");

        KIZAMI_REGION_BEGIN("reduce");
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        KIZAMI_REGION_END("reduce");
    }
    KIZAMI_REGION_END("solve");

    /* Each number starts at 42 + its rank and grows by one in each exchange. */
    long expected = 42l * size + (long)size * (size - 1) / 2 + (long)size * iterations;
    int wrong = iterations > 0 && sum != expected;
    if (wrong)
        fprintf(stderr, "regions: rank %d has sum %ld, not %ld\n", rank, sum, expected);
    else if (rank == 0)
        printf("regions ranks %d iterations %d sum %ld\n", size, iterations, sum);
    MPI_Finalize();
    return wrong;
}
