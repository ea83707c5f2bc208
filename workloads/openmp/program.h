/* What all programs of this folder share: numbers of the command line, chance, naps and the line they end with. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* The argument at this place, which must lie between least and most, or what it is otherwise. */
static inline long number(int argc, char **argv, int which, long otherwise, long least, long most)
{
    if (argc <= which)
        return otherwise;
    char *end;
    long value = strtol(argv[which], &end, 10);
    if (*argv[which] == '\0' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s: argument %d is a number from %ld to %ld, not %s\n", argv[0], which, least, most, argv[which]);
        exit(2);
    }
    return value;
}

/* From 0 to 1, the same on every machine for the same two numbers. */
static inline double chance(uint64_t seed, uint64_t which)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + which * 0x94d049bb133111ebu + 0xbf58476d1ce4e5b9u;
    for (int round = 0; round < 3; round++) {
        x ^= x >> 31;
        x *= 0xd6e8feb86659fd93u;
    }
    return (double)(x >> 11) / 9007199254740992.0;
}

static inline void *memory(size_t bytes)
{
    void *found = calloc(1, bytes > 0 ? bytes : 1);
    if (found == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(2);
    }
    return found;
}

static inline int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A nap takes no core, so that threads do not disturb each other however few cores there are. */
static inline void nap_until(int64_t deadline_ns)
{
    struct timespec time = {(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* Linux lets a sleep end 50 microseconds late unless told otherwise. Threads made later inherit it, so that to call this
 * before the first parallel region is enough. */
static inline void nap_exactly(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL);
}

#endif
