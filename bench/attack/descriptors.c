/* descriptors WAY SEED FILES CALLS END: takes descriptors that are not its own, and writes files of its own.
 *
 * WAY  close      closes some of the descriptors from 3 on, by chance
 *      closeall   closes all of them one by one
 *      closefrom  closes all from some number on
 *      range      closes some range
 *      dup2       puts an own file over some of them
 *      reopen     closes some, and opens an own file at once, which gets the lowest free number
 *      theirs     puts an own file over each that leads into a recording, and no other
 * END  finalize, exit or leave (without anything that runs at the end)
 *
 * Each file RANK.N.out holds its own line again and again; whoever else writes to it is found later. The files are open
 * for reading as well, so that they could be mapped. Half of the calls come from a thread that begins afterwards. */
#define _GNU_SOURCE
#include "count.h"
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST = 3, LOW = 60, MOST = 1024 };

static int rank, size, made;
static long calls;

static int own_file(void)
{
    char name[64], line[64], text[8192];
    snprintf(name, sizeof name, "%d.%d.out", rank, made);
    int length = snprintf(line, sizeof line, "rank %d file %d\n", rank, made), file;
    made++;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = line[i % length];
    file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, text, sizeof text) != sizeof text) {
        perror(name);
        _exit(98);
    }
    return file;
}

static int leads_into_a_recording(int descriptor)
{
    char link[64], target[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    return readlink(link, target, sizeof target - 1) > 0 && strstr(target, ".kz/");
}

/* MPICH ends a rank whose connections are gone, with or without a recorder: those, and what waits for them, are left
 * alone. They have low numbers; what is above may be anybody's. */
static int is_spared(int descriptor)
{
    struct stat status;
#ifdef MPICH_VERSION
    int mpich = 1;
#else
    int mpich = 0;
#endif
    return mpich && descriptor < LOW && fstat(descriptor, &status) == 0 &&
           (S_ISSOCK(status.st_mode) || (status.st_mode & S_IFMT) == 0);
}

static int is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) >= 0;
}

static void take(const char *way)
{
    int own[MOST] = {0}, first = FIRST + rand() % 61, last;
    int lowest = FIRST;
    for (int d = FIRST; d < MOST; d++)
        if (is_spared(d)) lowest = d + 1;
    if (first < lowest) first = lowest;
    last = first + rand() % MOST;
    if (strcmp(way, "closefrom") == 0) closefrom(rand() % 2 ? lowest : first);
    if (strcmp(way, "range") == 0) close_range(first, rand() % 2 ? ~0U : (unsigned)last, 0);
    for (int d = FIRST; d < MOST; d++) {
        int chosen = rand() % 2, file;
        if (!is_open(d) || own[d] || is_spared(d)) continue;
        if (strcmp(way, "closeall") == 0 || (strcmp(way, "close") == 0 && chosen)) close(d);
        if (strcmp(way, "reopen") == 0 && chosen) {
            close(d);
            file = own_file();
            if (file < MOST) own[file] = 1;
        }
        if ((strcmp(way, "dup2") == 0 && chosen) || (strcmp(way, "theirs") == 0 && leads_into_a_recording(d))) {
            file = own_file();
            dup2(file, d);
            if (file < MOST) own[file] = 1;
        }
    }
}

static void *work(void *unused)
{
    int mine;
    for (long i = 0; i < calls / 2; i++)
        DID(MPI_Comm_rank(MPI_COMM_WORLD, &mine));
    return unused;
}

int main(int argc, char **argv)
{
    int provided, files;
    pthread_t thread;
    if (argc < 6) return 2;
    count_from_here();
    DID(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    DID(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    DID(MPI_Comm_size(MPI_COMM_WORLD, &size));
    srand(atoi(argv[2]) + rank);
    files = atoi(argv[3]);
    calls = atol(argv[4]);
    /* Nobody may depend on a rank whose connections are gone already. */
    DID(MPI_Barrier(MPI_COMM_WORLD));
    take(argv[1]);
    for (int i = 0; i < files; i++)
        own_file();
    if (pthread_create(&thread, NULL, work, NULL)) _exit(97);
    work(NULL);
    pthread_join(thread, NULL);
    if (strcmp(argv[5], "finalize") == 0) DID(MPI_Finalize());
    came_to_the_end();
    wait_for_the_others(size);
    if (strcmp(argv[5], "leave") == 0) _exit(0);
    exit(0);
}
