/*
 * What the parts of coverage share. Each part calls the functions of one family
 * on every rank and checks what they give.
 */
#ifndef COVERAGE_H
#define COVERAGE_H

#include "../counted_calls.h"

extern int rank, size, left, right; /* in MPI_COMM_WORLD, and around its ring */
extern int failures;
extern const char *scratch_file;

/* Says what is wrong, and goes on: one run shows all that fails. */
#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            failures++;                                                                      \
            fprintf(stderr, "coverage: rank %d, %s:%d: %s\n", rank, __FILE__, __LINE__,       \
                    #condition);                                                             \
        }                                                                                    \
    } while (0)

void cover_environment(void);
void cover_attributes(void);
void cover_groups(void);
void cover_communicators(void);
void cover_datatypes(void);
void cover_operations(void);
void cover_point_to_point(void);
void cover_requests(void);
void cover_collectives(void);
void cover_topologies(void);
void cover_one_sided(void);
void cover_files(void);
void cover_tools(void);
void cover_mpi4(void);

#endif /* COVERAGE_H */
