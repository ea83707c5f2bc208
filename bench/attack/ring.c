/*
 * ring: a small program whose traces are attacked.
 *
 *     ring [ITERATIONS=5]
 *
 * Rank 0 is late at each broadcast, so that a report has something to say. Each rank prints its process, which names its
 * segments. With -DODD, regions, communicators and the source file have names that a terminal, a spreadsheet or a browser
 * would obey; the long name of a function is replaced in the finished program, since no compiler takes such a name.
 */
#include "kizami.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef ODD
#define REGION "\x1b]52;c;aGVsbG8=\x07\x1b[2J<kizamiodd>\"><img src=x onerror=alert(1)>\n=cmd|'/C calc'!A0\r\x9b" "31m\xc2\x9b" "2J\x7f"
#define FORMULA "=HYPERLINK(\"http://odd.example\",\"x\")"
#define COMM "@SUM(1)\x1b[31m<kizamiodd>"
#else
#define REGION "step"
#define FORMULA "end"
#define COMM "ring"
#endif

#ifdef ODD
#line 77 "=cmd|'<kizamiodd>\033]0;odd\007.c"
#endif
__attribute__((noinline)) void EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE(int rank)
{
    int value = rank;
    if (rank == 0)
        usleep(2000);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size, sum;
    double out[64] = {0}, in[64];
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    MPI_Comm_set_name(ring, COMM);
    printf("rank %d process %d\n", rank, (int)getpid());
    fflush(stdout);
    int iterations = argc > 1 ? atoi(argv[1]) : 5;
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[2];
        KIZAMI_REGION_BEGIN(REGION);
        EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE(rank);
        MPI_Irecv(in, 64, MPI_DOUBLE, (rank + size - 1) % size, 7, ring, &requests[0]);
        MPI_Isend(out, 64, MPI_DOUBLE, (rank + 1) % size, 7, ring, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, ring);
        KIZAMI_REGION_END(REGION);
    }
    KIZAMI_REGION_BEGIN(FORMULA);
    MPI_Barrier(ring);
    KIZAMI_REGION_END(FORMULA);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
