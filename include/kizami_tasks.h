/*
 * kizami_tasks.h: tell the Kizami tracer of tasks, from any runtime that has
 * some: a pool of threads, a scheduler of your own, a library of futures.
 *
 *     kizami_task told = kizami_task_create();   // before anybody can run it
 *     ...
 *     kizami_task_begin(told);                   // on whichever thread runs it
 *     ...
 *     kizami_task_end();                         // before anybody hears that it is done
 *
 *     kizami_task_wait_begin();                  // the running task, or the thread, waits
 *     ...                                        // other tasks may begin and end here
 *     kizami_task_wait_end();
 *
 * `kizami record -- ./program` then leaves a trace that `kizami tasks` and
 * `kizami view` explain as they do those of OpenMP programs.
 *
 * What is told is who made whom and who waited for whom:
 *
 * - A task is made by the one that runs on the thread. A thread that runs none
 *   has a first task of its own, which begins with the first thing told there
 *   (that of the program's first thread, with the first thing told anywhere).
 * - What runs on a thread is a stack: a task that begins goes on top, and when it
 *   ends, what lies below goes on.
 * - A wait is for the tasks that the running task has made. Those that have ended
 *   when it ends are behind it from then on; so waiting for one after the other is
 *   fine, as is waiting for all.
 * - What a task reads and writes of what its siblings do is told when it is
 *   made, by kizami_task_create_with: it comes after the ones made before it
 *   that write what it reads, and that read or write what it writes.
 *
 * Without the tracer, or with --openmp off or regions, each of these costs a
 * load and a branch. Nothing is to be linked but the C library (older ones than
 * glibc 2.34 need -ldl).
 */
#ifndef KIZAMI_TASKS_H
#define KIZAMI_TASKS_H

#include <dlfcn.h>
#include <stdint.h>

/* Inlined even where nothing is optimised: the place of a task is the line that makes it. */
#ifndef KIZAMI_INLINE
#define KIZAMI_INLINE inline __attribute__((always_inline))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A task; 0 where nobody listens. It is worth nothing once the task has ended. */
typedef uint64_t kizami_task;

/* What a task does with what lies at an address. */
struct kizami_need {
    const void *of;
    /* 0 if it only reads it. */
    int writes;
};

/* What the tracer has for this header, as `kizami_tasks_1`. */
struct kizami_task_listener {
    kizami_task (*create)(const void *where, const struct kizami_need *needs, int count);
    void (*begin)(kizami_task task);
    void (*end)(void);
    void (*wait_begin)(void);
    void (*wait_end)(void);
};

/* The tracer's, or one that has nothing. */
static KIZAMI_INLINE const struct kizami_task_listener *kizami_task_listening(void)
{
    static const struct kizami_task_listener nobody = {0, 0, 0, 0, 0};
    static const struct kizami_task_listener *found;
    const struct kizami_task_listener *known = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (__builtin_expect(known == 0, 0)) {
        /* Null is every C library's RTLD_DEFAULT on Linux, which not every standard declares. */
        known = (const struct kizami_task_listener *)dlsym((void *)0, "kizami_tasks_1");
        if (known == 0)
            known = &nobody;
        __atomic_store_n(&found, known, __ATOMIC_RELAXED);
    }
    return known;
}

/*
 * The running task makes one, with `count` needs. `where` says what place in the source
 * stands for it: null for this line, or a return address, such as
 * __builtin_return_address(0) in the function of a runtime that makes tasks for
 * others.
 */
static KIZAMI_INLINE kizami_task kizami_task_create_with(const void *where, const struct kizami_need *needs, int count)
{
    const struct kizami_task_listener *listener = kizami_task_listening();
    return listener->create ? listener->create(where, needs, count) : 0;
}

/* The running task makes one, here. */
static KIZAMI_INLINE kizami_task kizami_task_create(void)
{
    return kizami_task_create_with(0, 0, 0);
}

/* This thread runs the task from here on. */
static KIZAMI_INLINE void kizami_task_begin(kizami_task task)
{
    const struct kizami_task_listener *listener = kizami_task_listening();
    if (listener->begin)
        listener->begin(task);
}

/* The task that runs on this thread has ended. */
static KIZAMI_INLINE void kizami_task_end(void)
{
    const struct kizami_task_listener *listener = kizami_task_listening();
    if (listener->end)
        listener->end();
}

/* The task that runs on this thread waits for tasks that it made. */
static KIZAMI_INLINE void kizami_task_wait_begin(void)
{
    const struct kizami_task_listener *listener = kizami_task_listening();
    if (listener->wait_begin)
        listener->wait_begin();
}

/* It has waited. */
static KIZAMI_INLINE void kizami_task_wait_end(void)
{
    const struct kizami_task_listener *listener = kizami_task_listening();
    if (listener->wait_end)
        listener->wait_end();
}

#ifdef __cplusplus
}
#endif

#endif /* KIZAMI_TASKS_H */
