/* Loads libraries with OpenMP (runtimes_part.c) and has them work, as its words say, one after the other:
 *
 *     flags=WORD,...    how to load from now on: now, lazy, global, deepbind, apart (in a name space of its own)
 *     load=NAME=PATH    loads a library whose functions begin with NAME
 *     near=NAME         takes one that is linked to the program, or part of it
 *     tail=NAME=PATH    loads runtimes_tail.c and hands its lock to a library
 *     run=NAME=WHAT     has it do something
 *     inside=NAME=NAME  has threads of the first begin regions of the second
 *     at-once=NAME=NAME has two threads work at the same time, each with one of them
 *     close=NAME        unloads it
 *     ask=SYMBOL        prints whether the program sees a symbol
 *     weak              prints whether its weak references were bound
 *
 * At the end it prints how many parallel regions were begun. With -DWITH_MPI all that is between MPI_Init and MPI_Finalize,
 * and printed into the file printed.RANK: launchers mix lines of several ranks. With -DSTUBS the program has an OpenMP runtime without threads itself, as programs built for one thread have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef WITH_MPI
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>
#endif

#ifdef STUBS
int omp_get_max_threads(void) { return 1; }
int omp_get_thread_num(void) { return 0; }
int omp_get_num_threads(void) { return 1; }
void omp_set_lock(void *lock) { *(int *)lock = 1; }
void omp_unset_lock(void *lock) { *(int *)lock = 0; }
void omp_init_lock(void *lock) { *(int *)lock = 0; }
void GOMP_barrier(void) {}
void GOMP_critical_start(void) {}
void GOMP_critical_end(void) {}
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)threads, (void)flags;
    body(data);
}
#endif

/* Programs ask in this way whether they have a runtime. */
extern void GOMP_taskwait(void) __attribute__((weak));
extern void omp_set_nest_lock(void *) __attribute__((weak));

enum { MOST = 8 };
struct part {
    char name[32];
    void *handle;
    long regions;
};
static struct part parts[MOST];
static int part_count, flags = RTLD_NOW, apart;

static void *find(const struct part *part, const char *function)
{
    char name[64];
    snprintf(name, sizeof name, "%.31s_%.31s", part->name, function);
    return dlsym(part->handle ? part->handle : RTLD_DEFAULT, name);
}

static void *symbol(const struct part *part, const char *function)
{
    void *found = find(part, function);
    if (!found) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return found;
}

static struct part *named(const char *name)
{
    for (int i = 0; i < part_count; i++)
        if (!strcmp(parts[i].name, name))
            return &parts[i];
    if (part_count == MOST)
        exit(1);
    snprintf(parts[part_count].name, sizeof parts->name, "%s", name);
    return &parts[part_count++];
}

static void *load(const char *path)
{
    void *handle = apart ? dlmopen(LM_ID_NEWLM, path, flags) : dlopen(path, flags);
    if (!handle) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static void set_flags(const char *words)
{
    flags = strstr(words, "lazy") ? RTLD_LAZY : RTLD_NOW;
    flags |= strstr(words, "global") ? RTLD_GLOBAL : RTLD_LOCAL;
    flags |= strstr(words, "deepbind") ? RTLD_DEEPBIND : 0;
    apart = !!strstr(words, "apart");
}

static void run(const struct part *part, const char *what)
{
    ((void (*)(const char *))symbol(part, "run"))(what);
}

static void *run_in_thread(void *part)
{
    for (int i = 0; i < 3; i++)
        run(part, "all");
    return NULL;
}

static void at_once(struct part *first, struct part *second)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run_in_thread, second);
    run_in_thread(first);
    pthread_join(thread, NULL);
}

static void hand_over(struct part *part, const char *path)
{
    void *handle = load(path);
    ((void (*)(void *, void *, void *, void *))symbol(part, "tail"))(
        dlsym(handle, "tail_take"), dlsym(handle, "tail_give"), dlsym(handle, "tail_take_nest"),
        dlsym(handle, "tail_give_nest"));
}

static void close_part(struct part *part)
{
    part->regions += ((long (*)(void))symbol(part, "regions"))();
    dlclose(part->handle);
    part->handle = NULL;
}

static void obey(const char *word)
{
    char verb[16] = "", first[256] = "", second[256] = "";
    sscanf(word, "%15[^=]=%255[^=]=%255s", verb, first, second);
    if (!strcmp(verb, "flags"))
        set_flags(first);
    else if (!strcmp(verb, "load"))
        named(first)->handle = load(second);
    else if (!strcmp(verb, "near"))
        named(first);
    else if (!strcmp(verb, "tail"))
        hand_over(named(first), second);
    else if (!strcmp(verb, "run"))
        run(named(first), second);
    else if (!strcmp(verb, "inside"))
        printf("%s inside %s %ld\n", second, first,
               ((long (*)(void *))symbol(named(first), "around"))(symbol(named(second), "inner")));
    else if (!strcmp(verb, "at-once"))
        at_once(named(first), named(second));
    else if (!strcmp(verb, "close"))
        close_part(named(first));
    else if (!strcmp(verb, "weak"))
        printf("weak: %d %d\n", GOMP_taskwait != NULL, omp_set_nest_lock != NULL);
    else if (!strcmp(verb, "ask"))
        printf("%s: %s\n", first, dlsym(RTLD_DEFAULT, first) ? "there" : "not there");
    else
        exit(2);
    fflush(stdout);
}

#ifdef WITH_MPI
/* By its descriptor: libraries in a name space of their own have a C library of their own as well. */
static void print_to_file(void)
{
    char name[32];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "printed.%d", rank);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
        exit(3);
    close(file);
}
#endif

int main(int count, char **words)
{
    long regions = 0;
#ifdef WITH_MPI
    MPI_Init(&count, &words);
    print_to_file();
#endif
    for (int i = 1; i < count; i++)
        obey(words[i]);
    for (int i = 0; i < part_count; i++) {
        /* One that was unloaded has no functions any more. */
        long (*own)(void) = (long (*)(void))find(&parts[i], "regions");
        regions += parts[i].regions + (own ? own() : 0);
    }
#ifdef WITH_MPI
    long most;
    MPI_Allreduce(&regions, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    printf("most regions %ld\n", most);
    MPI_Finalize();
#endif
    printf("regions %ld\n", regions);
    return 0;
}
