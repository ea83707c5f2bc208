/* limits WAY VALUE THREADS CALLS: threads that begin when the process may take less than before.
 *
 * WAY is nothing, files (open ones), size (bytes of a file) or memory (bytes on top of what is mapped already). All threads
 * live at the same time; where one cannot be made, the first thread makes its calls. */
#include "count.h"
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST = 256, STACK_BYTES = 65536 };

static long calls;
static _Atomic int all_are_there, wrong;
static int rank;

static void work(void)
{
    int seen = -1;
    for (long i = 0; i < calls; i++) {
        DID(MPI_Comm_rank(MPI_COMM_WORLD, &seen));
        if (seen != rank) wrong++;
    }
}

static void *thread_work(void *unused)
{
    work();
    while (!all_are_there)
        sched_yield();
    return unused;
}

static unsigned long mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) abort();
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static int limit(const char *way, unsigned long value)
{
    struct rlimit both = {value, value};
    if (strcmp(way, "files") == 0) return setrlimit(RLIMIT_NOFILE, &both);
    if (strcmp(way, "size") == 0) return setrlimit(RLIMIT_FSIZE, &both);
    if (strcmp(way, "memory") == 0) {
        both.rlim_cur = both.rlim_max = mapped() + value;
        return setrlimit(RLIMIT_AS, &both);
    }
    return strcmp(way, "nothing") != 0;
}

int main(int argc, char **argv)
{
    int provided, threads, made = 0;
    pthread_t thread[MOST];
    pthread_attr_t small;
    if (argc < 5) return 2;
    count_from_here();
    DID(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    DID(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    DID(MPI_Barrier(MPI_COMM_WORLD));
    threads = atoi(argv[3]) < MOST ? atoi(argv[3]) : MOST;
    calls = atol(argv[4]);
    if (limit(argv[1], strtoul(argv[2], NULL, 10))) {
        perror(argv[1]);
        return 3;
    }
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[made], &small, thread_work, NULL) == 0) made++;
        else work();
    all_are_there = 1;
    for (int i = 0; i < made; i++)
        pthread_join(thread[i], NULL);
    printf("rank %d: %d threads of %ld calls, %d wrong\n", rank, threads, calls, wrong);
    fflush(stdout);
    DID(MPI_Finalize());
    came_to_the_end();
    return wrong != 0;
}
