/*
 * endings: OpenMP in processes and threads that end, begin and become others in the middle of it.
 *
 *     endings [WHAT=threads] [COUNT=0]
 *
 * COUNT 0 stands for the default of each:
 *     threads    COUNT=100 threads of the program's own, one after the other: a loop of 10 rounds in a region of 2 each, and gone.
 *               No tasks: LLVM's runtime (19) then uses memory of threads that are gone
 *     together   COUNT=4 threads of the program's own at once, 20 regions of 2 with 10 tasks each
 *     fork       a region of 10 tasks; then a child that computes without OpenMP, while the parent goes on with 10 more tasks
 *     child      a child that has a region of 10 tasks before the parent has any; then the parent has one
 *     exec       a region of 10 tasks; then the process becomes `endings together COUNT`, which has more threads: COUNT=2
 *     kill       COUNT=200 regions of 10 tasks each, and the process kills itself in the middle of the next
 *
 * A region adds 45 to a sum, which is printed with the numbers of regions and tasks, and checked. What a child
 * does is printed by its parent.
 */
#include "program.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static long sum, regions, tasks;

static void region(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (long i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
        __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&regions, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&tasks, 10, __ATOMIC_RELAXED);
}

static void *loop(void *nothing)
{
    long own = 0;
#pragma omp parallel for num_threads(2) reduction(+ : own)
    for (long i = 0; i < 10; i++)
        own += i;
    __atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
    __atomic_fetch_add(&regions, 1, __ATOMIC_RELAXED);
    return nothing;
}

static void *several(void *count)
{
    for (long i = 0; i < (long)count; i++)
        region();
    return NULL;
}

static void begin_thread(pthread_t *thread, void *(*act)(void *), void *with)
{
    if (pthread_create(thread, NULL, act, with) != 0) {
        fprintf(stderr, "endings: no thread\n");
        exit(2);
    }
}

static void threads(long count)
{
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        begin_thread(&thread, loop, NULL);
        pthread_join(thread, NULL);
    }
}

static void together(long count)
{
    pthread_t thread[256];
    for (long i = 0; i < count; i++)
        begin_thread(&thread[i], several, (void *)20);
    for (long i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

/* Whether a child that does this ends well. */
static int child(void (*act)(void))
{
    fflush(stdout);
    pid_t made = fork();
    if (made == 0) {
        act();
        /* By the ordinary way out: whatever is registered for it runs. */
        exit(sum % 45 == 0 ? 0 : 1);
    }
    int status = 1;
    return waitpid(made, &status, 0) == made && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void compute(void)
{
    for (volatile long i = 0; i < 1000000; i++)
        ;
}

static void be_killed(long count)
{
    several((void *)count);
    printf("endings: kill, sum %ld, regions %ld, tasks %ld\n", sum, regions, tasks);
    fflush(stdout);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (long i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
        if (i == 5)
            kill(getpid(), SIGKILL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "threads";
    long count = number(argc, argv, 2, 0, 0, 10000);
    int holds = 1;
    if (strcmp(what, "threads") == 0) {
        threads(count > 0 ? count : 100);
    } else if (strcmp(what, "together") == 0) {
        together(count > 0 && count < 256 ? count : 4);
    } else if (strcmp(what, "fork") == 0) {
        region();
        holds = child(compute);
        region();
    } else if (strcmp(what, "child") == 0) {
        holds = child(region);
        region();
    } else if (strcmp(what, "exec") == 0) {
        region();
        execl("/proc/self/exe", "endings", "together", count > 0 ? argv[2] : "2", NULL);
        return 2;
    } else if (strcmp(what, "kill") == 0) {
        be_killed(count > 0 ? count : 200);
    } else {
        fprintf(stderr, "endings: argument 1 is threads, together, fork, child, exec or kill, not %s\n", what);
        return 2;
    }
    holds = holds && sum == 45 * regions;
    printf("endings: %s, sum %ld, regions %ld, tasks %ld%s\n", what, sum, regions, tasks, holds ? "" : ", WRONG");
    return holds ? 0 : 1;
}
