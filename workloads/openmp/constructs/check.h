/* What all programs of this folder share: checks by one thread, and the line they end with. For C and C++. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int wrong_checks;

/* Says on standard error what is wrong; to be called outside of parallel regions. */
static inline void check(const char *what, long found, long wanted)
{
    if (found != wanted) {
        fprintf(stderr, "%s: %ld, not %ld\n", what, found, wanted);
        wrong_checks++;
    }
}

/* The last line and the exit code. Regions and explicit tasks are those known by construction; less than 0 if the runtime may
 * choose how many there are. */
static inline int checked(const char *program, long regions, long tasks)
{
    printf("%s: %s", program, wrong_checks == 0 ? "right" : "wrong");
    if (regions >= 0)
        printf(", regions %ld", regions);
    if (tasks >= 0)
        printf(", tasks %ld", tasks);
    printf("\n");
    return wrong_checks == 0 ? 0 : 1;
}

#endif
