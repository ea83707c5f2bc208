/*
 * closefrom: a program that closes every descriptor it does not know, as daemons
 * and launchers do, and then opens files of its own under the same numbers.
 *
 *     closefrom [FILES=80] [CALLS=100000]
 *
 * After MPI_Init each rank closes all descriptors from 60 on, opens FILES files
 * "RANK.NUMBER.out" in the present directory, writes one line into each, and makes
 * CALLS calls. In the end each file must have its one line and nothing else.
 *
 * Calls of each rank:  MPI_Init, MPI_Finalize: 1 each
 *                      MPI_Comm_rank CALLS + 1
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_UNKNOWN = 60, LAST_UNKNOWN = 1023 };

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int files = argc > 1 ? atoi(argv[1]) : 80;
    int calls = argc > 2 ? atoi(argv[2]) : 100000;

    for (int descriptor = FIRST_UNKNOWN; descriptor <= LAST_UNKNOWN; descriptor++)
        close(descriptor);
    FILE **file = malloc(files * sizeof *file);
    for (int i = 0; i < files; i++) {
        char name[64];
        snprintf(name, sizeof name, "%d.%d.out", rank, i);
        file[i] = fopen(name, "w");
        if (!file[i]) {
            perror(name);
            return 1;
        }
        fprintf(file[i], "file %d\n", i);
        fflush(file[i]);
    }
    for (int i = 0; i < calls; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < files; i++) {
        struct stat status;
        char line[64];
        int length = snprintf(line, sizeof line, "file %d\n", i);
        if (fstat(fileno(file[i]), &status) || status.st_size != length)
            wrong++;
        fclose(file[i]);
    }
    printf("closefrom: rank %d has %d files, %d of them wrong\n", rank, files, wrong);
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
