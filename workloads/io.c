/*
 * io: MPI-IO on one shared file, which is deleted at the end.
 *
 *     io [FILE=io.workload] [INTS=256]
 *
 * Rank r writes INTS ints at block r of the first half of the file (collective,
 * blocking) and at block r of the second half (individual, non-blocking), reads
 * back the block of rank + 1, and then reads every P-th int of the first half
 * through a file view.
 *
 * Calls of each rank (N = INTS, P = ranks):
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Reduce, MPI_Finalize: 1 each
 *     MPI_File_open 1, MPI_File_set_size 1, MPI_File_write_at_all 1 (4 N bytes
 *     at 4 N r), MPI_File_iwrite_at 1 (4 N bytes at 4 N (P + r)), MPI_Wait 1,
 *     MPI_File_sync 2, MPI_Barrier 2, MPI_File_read_at 2 (4 N bytes),
 *     MPI_Get_count 2, MPI_Type_create_resized 1, MPI_Type_commit 1,
 *     MPI_Type_free 1, MPI_File_set_view 1, MPI_File_read_all 1 (4 N bytes),
 *     MPI_File_get_size 1, MPI_File_close 1; rank 0 MPI_File_delete 1
 * No point-to-point messages.
 */
#include "counted_calls.h"

/* Number i of the whole file. */
static int content(long i)
{
    return (int)(i * 7 + 3);
}

int main(int argc, char **argv)
{
    int rank, size, count, wrong = 0;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    const char *path = argc > 1 ? argv[1] : "io.workload";
    int n = argc > 2 ? atoi(argv[2]) : 256;
    long first = (long)n * rank, half = (long)n * size, next = (long)n * ((rank + 1) % size);
    int *out = malloc((n + 1) * sizeof *out), *late = malloc((n + 1) * sizeof *late);
    int *in = calloc(n + 1, sizeof *in);
    for (int i = 0; i < n; i++) {
        out[i] = content(first + i);
        late[i] = content(half + first + i);
    }

    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    /* Errors of files return by default; a workload without its file is wrong. */
    if (CALL(MPI_File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
             &file) != MPI_SUCCESS) {
        fprintf(stderr, "io: cannot open %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    CALL(MPI_File_set_size, file, 0);
    CALL(MPI_File_write_at_all, file, first * (MPI_Offset)sizeof(int), out, n, MPI_INT,
         MPI_STATUS_IGNORE);
    CALL(MPI_File_iwrite_at, file, (half + first) * (MPI_Offset)sizeof(int), late, n, MPI_INT,
         &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);

    /* Sync, barrier, sync: what the others wrote is there to be read. */
    CALL(MPI_File_sync, file);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_File_sync, file);
    for (int part = 0; part < 2; part++) {
        long start = part * half + next;
        CALL(MPI_File_read_at, file, start * (MPI_Offset)sizeof(int), in, n, MPI_INT, &status);
        CALL(MPI_Get_count, &status, MPI_INT, &count);
        wrong |= count != n;
        for (int i = 0; i < n; i++)
            wrong |= in[i] != content(start + i);
    }

    /* One int out of every P, beginning with the int at place `rank`. */
    MPI_Datatype every_pth;
    CALL(MPI_Type_create_resized, MPI_INT, 0, size * (MPI_Aint)sizeof(int), &every_pth);
    CALL(MPI_Type_commit, &every_pth);
    CALL(MPI_File_set_view, file, rank * (MPI_Offset)sizeof(int), MPI_INT, every_pth, "native",
         MPI_INFO_NULL);
    memset(in, 0, n * sizeof *in);
    CALL(MPI_File_read_all, file, in, n, MPI_INT, MPI_STATUS_IGNORE);
    long sum = 0, total = 0;
    for (int i = 0; i < n; i++) {
        wrong |= in[i] != content(rank + (long)size * i);
        sum += (long)in[i] * (rank + 1);
    }
    MPI_Offset bytes;
    CALL(MPI_File_get_size, file, &bytes);
    wrong |= bytes != 2 * half * (MPI_Offset)sizeof(int);
    CALL(MPI_Type_free, &every_pth);
    CALL(MPI_File_close, &file);
    CALL(MPI_Barrier, MPI_COMM_WORLD); /* nobody has it open when it goes */
    if (rank == 0)
        wrong |= CALL(MPI_File_delete, path, MPI_INFO_NULL) != MPI_SUCCESS;

    CALL(MPI_Reduce, &sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "io: rank %d read wrong numbers\n", rank);
    else if (rank == 0)
        printf("io ranks %d ints %d bytes %lld checksum %ld\n", size, n, (long long)bytes, total);
    free(out), free(late), free(in);
    CALL(MPI_Finalize);
    write_counts(rank);
    return wrong;
}
