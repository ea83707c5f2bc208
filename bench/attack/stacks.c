/* stacks WAY COUNT BYTES: MPI calls where there is little stack.
 *
 * WAY  threads  COUNT threads with the smallest stacks there may be, at most 100 at a time
 *      fibres   COUNT contexts of makecontext with stacks of BYTES, each with a page below that must not be touched
 *      signals  COUNT signals whose handler runs on a stack of BYTES and makes calls, while the program makes calls, too;
 *               those that come inside another call are counted apart */
#define _GNU_SOURCE
#include "count.h"
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { AT_A_TIME = 100, CALLS = 20, PAGE = 4096 };

static int rank;
static _Atomic int wrong, handled;
static volatile sig_atomic_t inside;
static ucontext_t outside, fibre;

static void work(void)
{
    for (int i = 0; i < CALLS; i++) {
        int mine = -1, yes = 0;
        inside = 1;
        DID(MPI_Comm_rank(MPI_COMM_WORLD, &mine));
        DID(MPI_Initialized(&yes));
        inside = 0;
        if (mine != rank || !yes) wrong++;
    }
}

static void *thread_work(void *unused)
{
    work();
    return unused;
}

/* A page below that nobody may touch: who needs more stack than there is dies at once. */
static char *new_stack(size_t bytes)
{
    char *low = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED || mprotect(low, PAGE, PROT_NONE)) abort();
    return low + PAGE;
}

static void threads(int count)
{
    pthread_attr_t least;
    pthread_attr_init(&least);
    if (pthread_attr_setstacksize(&least, PTHREAD_STACK_MIN)) abort();
    for (int done = 0; done < count;) {
        pthread_t thread[AT_A_TIME];
        int now = count - done < AT_A_TIME ? count - done : AT_A_TIME;
        for (int i = 0; i < now; i++)
            if (pthread_create(&thread[i], &least, thread_work, NULL)) abort();
        for (int i = 0; i < now; i++)
            pthread_join(thread[i], NULL);
        done += now;
    }
}

static void fibres(int count, size_t bytes)
{
    char *stack = new_stack(bytes);
    for (int i = 0; i < count; i++) {
        getcontext(&fibre);
        fibre.uc_stack.ss_sp = stack;
        fibre.uc_stack.ss_size = bytes;
        fibre.uc_link = &outside;
        makecontext(&fibre, work, 0);
        swapcontext(&outside, &fibre);
    }
}

static void handler(int signal)
{
    int yes;
    (void)signal;
    if (inside) {
        MPI_Initialized(&yes);
        MPI_Finalized(&yes);
        slot->nested += 2;
    } else {
        DID(MPI_Initialized(&yes));
        DID(MPI_Finalized(&yes));
    }
    handled++;
}

static void signals(int count, size_t bytes)
{
    stack_t other = {.ss_sp = new_stack(bytes), .ss_size = bytes};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    if (sigaltstack(&other, NULL) || sigaction(SIGALRM, &action, NULL)) abort();
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < count) {
        work();
        /* Some signals come when no call is under way. */
        for (volatile int i = 0; i < 5000; i++)
            ;
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
    int provided, count;
    if (argc < 4) return 2;
    count = atoi(argv[2]);
    count_from_here();
    DID(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    DID(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (strcmp(argv[1], "threads") == 0) threads(count);
    if (strcmp(argv[1], "fibres") == 0) fibres(count, strtoul(argv[3], NULL, 10));
    if (strcmp(argv[1], "signals") == 0) signals(count, strtoul(argv[3], NULL, 10));
    printf("rank %d: %s, %d wrong\n", rank, argv[1], wrong);
    fflush(stdout);
    DID(MPI_Finalize());
    came_to_the_end();
    return wrong != 0;
}
