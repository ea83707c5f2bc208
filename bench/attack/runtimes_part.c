/* A library with OpenMP, of which a process may have several, each with a runtime of its own. All results are the same
 * with any number of threads. -DPREFIX=a gives its functions their names:
 *
 *     a_run(WHAT)       does what WHAT names (loops, tasks, locks, numbers, or all) and prints what came of it
 *     a_tail(...)       hands over a lock that another library has: it is part of "locks" from then on
 *     a_inner()         one short region
 *     a_around(INNER)   a region in which each thread calls INNER
 *     a_regions()       how many regions were begun here */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define JOINED(a, b) a##_##b
#define NAMED(a, b) JOINED(a, b)
#define FUNCTION(name) NAMED(PREFIX, name)
#define TEXT(text) #text
#define TEXT_OF(macro) TEXT(macro)

static long regions;
static void (*tail_take)(void), (*tail_give)(void), (*tail_take_nest)(void), (*tail_give_nest)(void);
/* Called by way of a table: the loader fills it, and no code of ours. */
static void (*volatile take_by_table)(omp_lock_t *) = omp_set_lock;
static void (*volatile give_by_table)(omp_lock_t *) = omp_unset_lock;

static void region(void)
{
    __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED);
}

static void say(const char *what, long value)
{
    printf("%s %s %ld\n", TEXT_OF(PREFIX), what, value);
    fflush(stdout);
}

static void loops(void)
{
    long sum = 0, order = 0, wrong = 0, parts = 0;
    region();
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(4)
    for (long i = 0; i < 1000; i++)
        sum += i;
    say("static", sum);
    sum = 0;
    region();
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 7)
        for (long i = 0; i < 1000; i++)
            sum += i;
#pragma omp for schedule(guided)
        for (long i = 0; i < 1000; i++)
            sum += 2 * i;
#pragma omp for schedule(runtime) nowait
        for (long i = 0; i < 1000; i++)
            sum += 3 * i;
#pragma omp single
        sum += 1;
#pragma omp barrier
    }
    say("dynamic", sum);
    sum = 0;
    region();
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) num_threads(3)
    for (long i = 0; i < 100; i++)
        sum += i;
    region();
#pragma omp parallel for schedule(guided) reduction(+ : sum) num_threads(3)
    for (long i = 0; i < 100; i++)
        sum += i;
    region();
#pragma omp parallel for schedule(runtime) reduction(+ : sum) num_threads(3)
    for (long i = 0; i < 100; i++)
        sum += i;
    say("loops", sum);
    region();
#pragma omp parallel for ordered schedule(dynamic) num_threads(3)
    for (long i = 0; i < 50; i++) {
#pragma omp ordered
        {
            wrong += order != i;
            order++;
        }
    }
    say("ordered", order * 1000 + wrong);
    region();
#pragma omp parallel sections num_threads(3) reduction(+ : parts)
    {
#pragma omp section
        parts += 1;
#pragma omp section
        parts += 10;
#pragma omp section
        parts += 100;
    }
    say("sections", parts);
    parts = 0;
    omp_set_max_active_levels(2);
    region();
#pragma omp parallel num_threads(2) reduction(+ : parts)
    {
        region();
#pragma omp parallel num_threads(2) reduction(+ : parts)
        parts += 1 + 10 * omp_get_level();
    }
    say("nested", parts);
}

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 4)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(void)
{
    long sum = 0, chain = 1, grouped = 0, reduced = 0;
    region();
#pragma omp parallel num_threads(4)
#pragma omp single
    sum = fibonacci(12);
    say("tasks", sum);
    sum = 0;
    region();
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp taskloop grainsize(7) shared(sum)
        for (long i = 0; i < 100; i++) {
#pragma omp atomic
            sum += i;
        }
    }
    say("taskloop", sum);
    region();
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 1; i <= 20; i++) {
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i)
        chain = (chain * 3 + i) % 10007;
    }
    say("depend", chain);
    region();
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp taskgroup
        for (int i = 0; i < 10; i++) {
#pragma omp task shared(grouped)
            {
#pragma omp atomic
                grouped += 1;
            }
        }
        grouped *= 1000;
    }
    say("taskgroup", grouped);
    region();
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : reduced)
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : reduced) firstprivate(i)
        reduced += i;
    }
    say("task_reduction", reduced);
}

static void locks(void)
{
    long in_critical = 0, in_another = 0, locked = 0, nested = 0, by_table = 0, tail = 0, tail_nest = 0;
    omp_lock_t lock, table_lock;
    omp_nest_lock_t nest_lock;
    omp_init_lock(&lock);
    omp_init_lock(&table_lock);
    omp_init_nest_lock(&nest_lock);
    region();
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 50; i++) {
#pragma omp critical
        in_critical++;
#pragma omp critical(another)
        in_another++;
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest_lock);
        omp_set_nest_lock(&nest_lock);
        nested++;
        omp_unset_nest_lock(&nest_lock);
        omp_unset_nest_lock(&nest_lock);
        take_by_table(&table_lock);
        by_table++;
        give_by_table(&table_lock);
        if (tail_take) {
            tail_take();
            tail++;
            tail_give();
            tail_take_nest();
            tail_take_nest();
            tail_nest++;
            tail_give_nest();
            tail_give_nest();
        }
    }
    /* Counted without a lock in common where one did not work: then they are too low, sometimes. */
    say("critical", in_critical * 1000 + in_another);
    say("lock", locked);
    say("nest_lock", nested);
    say("lock_by_table", by_table);
    say("tail", tail * 1000 + tail_nest);
    say("free", omp_test_lock(&lock) + 10 * omp_test_nest_lock(&nest_lock));
    omp_unset_lock(&lock);
    omp_unset_nest_lock(&nest_lock);
    omp_destroy_lock(&lock);
    omp_destroy_lock(&table_lock);
    omp_destroy_nest_lock(&nest_lock);
}

static void numbers(void)
{
    long numbers = 0, size = 0, levels = 0;
    Dl_info info = {0};
    dladdr((void *)omp_get_max_threads, &info);
    const char *slash = strrchr(info.dli_fname, '/');
    printf("%s is bound to %s\n", TEXT_OF(PREFIX), slash ? slash + 1 : info.dli_fname);
    say("max_threads", omp_get_max_threads());
    omp_set_num_threads(2 + TEXT_OF(PREFIX)[0] % 3);
    say("then", omp_get_max_threads());
    region();
#pragma omp parallel num_threads(4) reduction(+ : numbers, size, levels)
    {
        numbers += omp_get_thread_num();
        size += omp_get_num_threads();
        levels += omp_get_level() + 10 * omp_in_parallel();
    }
    say("thread_num", numbers);
    say("num_threads", size);
    say("levels", levels);
    size = 0;
    region();
#pragma omp parallel reduction(+ : size)
    size += 1;
    say("threads", size);
    /* What this library sees by name is not what it was linked to, where it was loaded privately. */
    static const char *const names[] = {"omp_get_max_threads", "omp_set_lock", "GOMP_parallel", "GOMP_barrier",
                                        "__kmpc_fork_call", "omp_get_thread_num"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(RTLD_DEFAULT, names[i]);
        printf("%s %s by name: %s\n", TEXT_OF(PREFIX), names[i], found ? "there" : "not there");
    }
    int (*by_name)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    say("max_threads_by_name", by_name ? by_name() : -1);
    void (*set)(omp_lock_t *) = (void (*)(omp_lock_t *))dlsym(RTLD_DEFAULT, "omp_set_lock");
    void (*unset)(omp_lock_t *) = (void (*)(omp_lock_t *))dlsym(RTLD_DEFAULT, "omp_unset_lock");
    void (*init)(omp_lock_t *) = (void (*)(omp_lock_t *))dlsym(RTLD_DEFAULT, "omp_init_lock");
    long taken = 0;
    omp_lock_t lock;
    if (set && unset && init) {
        init(&lock);
        region();
#pragma omp parallel num_threads(2)
        for (int i = 0; i < 50; i++) {
            set(&lock);
            taken++;
            unset(&lock);
        }
    }
    say("lock_by_name", taken);
}

void FUNCTION(run)(const char *what)
{
    const int all = !strcmp(what, "all");
    if (all || !strcmp(what, "numbers"))
        numbers();
    if (all || !strcmp(what, "loops"))
        loops();
    if (all || !strcmp(what, "tasks"))
        tasks();
    if (all || !strcmp(what, "locks"))
        locks();
}

void FUNCTION(tail)(void (*take)(void), void (*give)(void), void (*take_nest)(void), void (*give_nest)(void))
{
    tail_take = take;
    tail_give = give;
    tail_take_nest = take_nest;
    tail_give_nest = give_nest;
}

long FUNCTION(inner)(void)
{
    long sum = 0;
    region();
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) num_threads(2)
    for (long i = 0; i < 20; i++)
        sum += i;
    return sum;
}

long FUNCTION(around)(long (*inner)(void))
{
    long sum = 0;
    region();
#pragma omp parallel num_threads(2) shared(sum)
    for (int i = 0; i < 5; i++) {
#pragma omp critical(around)
        {
            long own = inner();
#pragma omp atomic
            sum += own;
        }
#pragma omp barrier
#pragma omp task shared(sum)
        {
            long own = inner();
#pragma omp atomic
            sum += own;
        }
    }
    return sum;
}

long FUNCTION(regions)(void)
{
    return regions;
}
