/*
 * counted_calls.h: a program's own account of its MPI calls and messages.
 *
 * Write CALL(MPI_Send, buf, n, ...) in place of MPI_Send(buf, n, ...), and
 * note_send / note_receive beside each point-to-point message whose peer, tag
 * and size are known. At the end, after CALL(MPI_Finalize), call
 * write_counts(rank). When the environment variable WORKLOAD_COUNTS names a
 * directory, that writes
 *
 *     DIR/<rank>.counts     lines  MPI_Send 12
 *     DIR/<rank>.messages   lines  send|recv <peer world rank> <tag> <bytes> <count>
 *
 * both sorted. Messages to or from MPI_PROC_NULL are no messages and are left
 * out; a program that notes no message writes no .messages file.
 *
 * All of it may be called from several threads at once. Each call costs a
 * lock and a search, so benchmarks do not use this header; messages are noted
 * only when they will be written. The state is a weak symbol: a program of
 * several files that include this header has one. It is C and C++;
 * apps/counted_calls.f90 is the same for Fortran.
 */
#ifndef COUNTED_CALLS_H
#define COUNTED_CALLS_H

/* No MPI's own C++ binding, which the standard dropped: its headers warn. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(function, ...) (count_call(#function), function(__VA_ARGS__))

enum { MAX_FUNCTIONS = 1024, MAX_MESSAGES = 4096 };

struct function_count {
    const char *name;
    unsigned long calls;
};

struct message_count {
    const char *direction;
    int peer;
    int tag;
    long bytes;
    unsigned long count;
};

struct workload_counts {
    pthread_mutex_t lock;
    int functions;
    int messages;
    struct function_count function[MAX_FUNCTIONS];
    struct message_count message[MAX_MESSAGES];
};

__attribute__((weak)) struct workload_counts workload_counts = {
    PTHREAD_MUTEX_INITIALIZER, 0, 0, {{0, 0}}, {{0, 0, 0, 0, 0}}};

static inline void count_calls(const char *name, unsigned long calls)
{
    struct workload_counts *w = &workload_counts;
    pthread_mutex_lock(&w->lock);
    int i = 0;
    while (i < w->functions && strcmp(w->function[i].name, name) != 0)
        i++;
    if (i == MAX_FUNCTIONS) {
        fprintf(stderr, "counted_calls.h: more than %d functions\n", MAX_FUNCTIONS);
        abort();
    }
    if (i == w->functions)
        w->function[w->functions++].name = name;
    w->function[i].calls += calls;
    pthread_mutex_unlock(&w->lock);
}

static inline void count_call(const char *name)
{
    count_calls(name, 1);
}

static inline void note_message(const char *direction, int peer, int tag, long bytes)
{
    if (peer == MPI_PROC_NULL || !getenv("WORKLOAD_COUNTS"))
        return;
    struct workload_counts *w = &workload_counts;
    pthread_mutex_lock(&w->lock);
    int i = 0;
    while (i < w->messages &&
           !(w->message[i].direction[0] == direction[0] && w->message[i].peer == peer &&
             w->message[i].tag == tag && w->message[i].bytes == bytes))
        i++;
    if (i == MAX_MESSAGES) {
        fprintf(stderr, "counted_calls.h: more than %d kinds of message\n", MAX_MESSAGES);
        abort();
    }
    if (i == w->messages) {
        w->messages++;
        w->message[i].direction = direction;
        w->message[i].peer = peer;
        w->message[i].tag = tag;
        w->message[i].bytes = bytes;
    }
    w->message[i].count++;
    pthread_mutex_unlock(&w->lock);
}

/* Peers are ranks in MPI_COMM_WORLD. */
static inline void note_send(int peer, int tag, long bytes)
{
    note_message("send", peer, tag, bytes);
}

static inline void note_receive(int peer, int tag, long bytes)
{
    note_message("recv", peer, tag, bytes);
}

static inline int by_name(const void *a, const void *b)
{
    const struct function_count *x = (const struct function_count *)a;
    const struct function_count *y = (const struct function_count *)b;
    return strcmp(x->name, y->name);
}

static inline int by_message(const void *a, const void *b)
{
    const struct message_count *x = (const struct message_count *)a;
    const struct message_count *y = (const struct message_count *)b;
    if (x->direction[0] != y->direction[0])
        return x->direction[0] < y->direction[0] ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static inline FILE *open_counts(int rank, const char *ending)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.%s", getenv("WORKLOAD_COUNTS"), rank, ending);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static inline void write_counts(int rank)
{
    struct workload_counts *w = &workload_counts;
    if (!getenv("WORKLOAD_COUNTS"))
        return;
    qsort(w->function, w->functions, sizeof w->function[0], by_name);
    FILE *file = open_counts(rank, "counts");
    for (int i = 0; i < w->functions; i++)
        fprintf(file, "%s %lu\n", w->function[i].name, w->function[i].calls);
    fclose(file);
    if (w->messages == 0)
        return;
    qsort(w->message, w->messages, sizeof w->message[0], by_message);
    file = open_counts(rank, "messages");
    for (int i = 0; i < w->messages; i++)
        fprintf(file, "%s %d %d %ld %lu\n", w->message[i].direction, w->message[i].peer,
                w->message[i].tag, w->message[i].bytes, w->message[i].count);
    fclose(file);
}

#endif /* COUNTED_CALLS_H */
