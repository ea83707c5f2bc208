/*
 * files: reads and writes files by every function of the C library that
 * `kizami record --io` knows, and checks what comes back.
 *
 *     files
 *
 * Each rank has files of its own in the current directory, files.RANK.a to
 * files.RANK.d, which are deleted at the end. Calls on files are counted like
 * MPI calls where they are to be recorded: on regular files, by the thread that
 * calls MPI, in this process. What must not be recorded stands beside it and is
 * not counted: a pipe, /dev/null, /proc, children of fork, vfork and a direct
 * system call, a thread that never calls MPI, and what MPI-IO does inside.
 *
 * A function of a stream counts where it moves bytes to or from the file; the
 * buffer holds 4,096.
 *
 * Bytes of each rank: read 2,000, pread 100, readv 100, preadv 100, write
 * 1,801, pwrite 100, writev 100, pwritev 100, fread 16,100, fwrite 13,088,
 * fflush 3,712, fclose 2,416, fprintf 8,192, fputs 8,192, fgets 12,288, getline
 * 6,412.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "counted_calls.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 100, ITEMS = 2000, BUFFER = 4096 };

static int rank, wrong, file;
static char path[4][64], piece[PIECE], back[2 * PIECE * 10];

static void expect(int true_, const char *what)
{
    if (!true_) {
        fprintf(stderr, "files: rank %d: %s (errno %d)\n", rank, what, errno);
        wrong++;
    }
}

/* By descriptors: 1,800 bytes by write, 100 by each of the others. */
static void by_descriptor(void)
{
    file = CALL(open, path[0], O_CREAT | O_TRUNC | O_RDWR, 0600);
    expect(file >= 0, "open");
    errno = 77;
    for (int i = 0; i < 18; i++)
        expect(CALL(write, file, piece, PIECE) == PIECE, "write");
    expect(errno == 77, "errno changed by a write that succeeded");
    struct iovec halves[2] = {{piece, PIECE / 2}, {piece + PIECE / 2, PIECE / 2}};
    expect(CALL(pwrite, file, piece, PIECE, 1800) == PIECE, "pwrite");
    expect(CALL(pwritev, file, halves, 2, 1900) == PIECE, "pwritev");
    expect(lseek(file, 0, SEEK_END) == 2000, "the size of the file");
    expect(CALL(writev, file, halves, 2) == PIECE, "writev");
    expect(CALL(fdatasync, file) == 0, "fdatasync");
    expect(CALL(sync_file_range, file, 0, 0, SYNC_FILE_RANGE_WRITE) == 0, "sync_file_range");
    expect(CALL(fsync, file) == 0, "fsync");

    expect(lseek(file, 0, SEEK_SET) == 0, "lseek");
    expect(CALL(read, file, back, 2000) == 2000, "read");
    for (int i = 0; i < 2000; i++)
        expect(back[i] == piece[i % PIECE], "what was written");
    halves[0].iov_base = back;
    halves[1].iov_base = back + PIECE / 2;
    expect(CALL(readv, file, halves, 2) == PIECE && back[1] == piece[1], "readv");
    expect(CALL(pread, file, back, PIECE, 500) == PIECE && back[3] == piece[3], "pread");
    expect(CALL(preadv, file, halves, 2, 600) == PIECE && back[5] == piece[5], "preadv");
    expect(CALL(read, file, back, 1) == 0, "the end of the file");

    int second = CALL(openat, AT_FDCWD, path[1], O_CREAT | O_WRONLY, 0600);
    expect(CALL(close, second) == 0, "close");
    second = CALL(creat, path[1], 0600);
    expect(CALL(close, second) == 0, "close");
    errno = 0;
    expect(CALL(open, "/nowhere/at/all", O_RDONLY) < 0 && errno == ENOENT, "open of nothing");
    expect(read(second, back, 1) < 0 && errno == EBADF, "read of a closed descriptor");
}

/* By streams: 16,000 bytes there and back in pieces of 8, and 900 without a buffer. */
static void by_stream(void)
{
    double number = rank, found = 0;
    FILE *stream = CALL(fopen, path[2], "w");
    setvbuf(stream, NULL, _IOFBF, BUFFER);
    for (int i = 0; i < ITEMS; i++)
        expect(fwrite(&number, sizeof number, 1, stream) == 1, "fwrite");
    count_calls("fwrite", (ITEMS * sizeof number - 1) / BUFFER);
    expect(CALL(fflush, stream) == 0, "fflush");
    expect(fflush(stream) == 0, "fflush of nothing");
    fwrite(piece, 1, PIECE, stream);
    expect(CALL(fclose, stream) == 0, "fclose");

    stream = CALL(fopen, path[2], "r");
    setvbuf(stream, NULL, _IOFBF, BUFFER);
    for (int i = 0; i < ITEMS; i++)
        expect(fread(&found, sizeof found, 1, stream) == 1 && found == number, "fread");
    count_calls("fread", (ITEMS * sizeof found - 1) / BUFFER + 1);
    stream = CALL(freopen, path[3], "w", stream);
    setvbuf(stream, NULL, _IONBF, 0);
    for (int i = 0; i < 8; i++)
        expect(CALL(fwrite, piece, PIECE, 1, stream) == 1, "fwrite without a buffer");
    expect(CALL(fclose, stream) == 0, "fclose");
}

/* As text: 1,100 lines of 11 bytes in one way, 600 of the same in the other; read back line by line. */
static void as_text(void)
{
    int lines = 0;
    size_t room = 64, bytes = 0;
    char *line = malloc(room);
    FILE *stream = CALL(fopen, path[2], "w");
    setvbuf(stream, NULL, _IOFBF, BUFFER);
    for (int i = 0; i < 1100; i++)
        expect(fprintf(stream, "%s%8.1f%c%d\n", "", i / 2.0, ' ', rank % 10) == 11, "fprintf");
    count_calls("fprintf", 2);
    for (int i = 0; i < 600; i++)
        expect(fputs("0123456789\n", stream) >= 0, "fputs");
    count_calls("fputs", 2);
    expect(CALL(fclose, stream) == 0, "fclose");

    stream = CALL(fopen, path[2], "r");
    setvbuf(stream, NULL, _IOFBF, BUFFER);
    while (lines < 900 && fgets(line, (int)room, stream) != NULL) {
        bytes += strlen(line);
        lines++;
    }
    count_calls("fgets", 3);
    while (getline(&line, &room, stream) > 0) {
        bytes += strlen(line);
        lines++;
    }
    count_calls("getline", 2);
    expect(lines == 1700 && bytes == 18700, "lines of text");
    expect(CALL(fclose, stream) == 0, "fclose");
    free(line);
}

static void on_signal(int signal)
{
    (void)signal;
    (void)!write(file, "x", 1);
}

static void *in_thread(void *nothing)
{
    int own = open(path[1], O_CREAT | O_WRONLY, 0600);
    expect(write(own, piece, PIECE) == PIECE, "write of another thread");
    close(own);
    return nothing;
}

static void *waits_for_ever(void *descriptor)
{
    char byte;
    expect(read(*(int *)descriptor, &byte, 1) < 0, "read of an empty pipe");
    return NULL;
}

static void await(pid_t child)
{
    int status;
    expect(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
}

/* What is not to be recorded. */
static void unrecorded(void)
{
    int ends[2], null = open("/dev/null", O_WRONLY);
    expect(write(null, piece, PIECE) == PIECE && close(null) == 0, "/dev/null");
    expect(pipe(ends) == 0 && write(ends[1], piece, 3) == 3 && read(ends[0], back, 3) == 3, "a pipe");
    FILE *stream = fopen("/proc/self/status", "r");
    expect(stream != NULL && fread(back, 1, 10, stream) == 10 && fclose(stream) == 0, "/proc");

    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    void *result;
    pthread_create(&thread, NULL, waits_for_ever, &ends[0]);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    expect(result == PTHREAD_CANCELED, "a thread is cancelled");

    pid_t child = fork();
    if (child == 0)
        _exit(write(file, piece, PIECE) != PIECE);
    await(child);
    child = vfork();
    if (child == 0) {
        close(ends[0]);
        _exit(write(file, piece, PIECE) != PIECE);
    }
    await(child);
    child = syscall(SYS_fork);
    if (child == 0)
        _exit(write(file, piece, PIECE) != PIECE);
    await(child);
    close(ends[0]);
    close(ends[1]);
}

static void by_mpi(void)
{
    MPI_File shared;
    CALL(MPI_File_open, MPI_COMM_SELF, path[3], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &shared);
    CALL(MPI_File_write_at, shared, 0, piece, PIECE, MPI_CHAR, MPI_STATUS_IGNORE);
    CALL(MPI_File_close, &shared);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    for (int i = 0; i < PIECE; i++)
        piece[i] = (char)(i + rank);
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "files.%d.%c", rank, 'a' + i);
    by_descriptor();
    by_stream();
    as_text();
    unrecorded();
    by_mpi();
    signal(SIGUSR1, on_signal);
    count_call("write");
    raise(SIGUSR1);
    expect(lseek(file, 0, SEEK_END) == 2401, "the size of the file");
    expect(CALL(close, file) == 0, "close");
    for (int i = 0; i < 4; i++)
        expect(unlink(path[i]) == 0, "unlink");
    int all;
    CALL(MPI_Allreduce, &wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(MPI_Finalize);
    if (rank == 0)
        printf("files: %d wrong\n", all);
    write_counts(rank);
    return all != 0;
}
