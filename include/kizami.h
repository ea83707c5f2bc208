/*
 * kizami.h: mark named regions of an MPI program for the Kizami tracer, and
 * tell it how much work there is.
 *
 * C:
 *     KIZAMI_REGION_BEGIN("solve");
 *     ...
 *     KIZAMI_REGION_END("solve");
 *
 * C++:
 *     { kizami::region r("solve"); ... }
 *
 * Amounts of work, for predictions: told once for each piece of computation,
 * before the MPI call that ends it.
 *     KIZAMI_COUNT("nonzeros", n);
 *
 * All of them are calls of MPI_Pcontrol, the function that the MPI standard
 * sets aside for profiling tools. Without a tracer an MPI library's own
 * MPI_Pcontrol does nothing, so a mark costs one call of an empty function,
 * and the program needs no extra library to link.
 *
 * Call the marks between MPI_Init and MPI_Finalize. Regions nest; end them in
 * the reverse order of their beginning, on the thread that began them. The
 * name is read during the call only: it need not outlive it.
 */
#ifndef KIZAMI_H
#define KIZAMI_H

#include <mpi.h>

/* The levels that tell a mark from any other use of MPI_Pcontrol. */
#define KIZAMI_LEVEL_BEGIN 0x6b7a01
#define KIZAMI_LEVEL_END 0x6b7a02
#define KIZAMI_LEVEL_COUNT 0x6b7a03

/* Marks are inlined even where nothing is optimised: the place of a mark is the line that has it. */
#ifdef __GNUC__
#define KIZAMI_INLINE inline __attribute__((always_inline))
#else
#define KIZAMI_INLINE inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

static KIZAMI_INLINE void kizami_region_begin(const char *name)
{
    MPI_Pcontrol(KIZAMI_LEVEL_BEGIN, name);
}

static KIZAMI_INLINE void kizami_region_end(const char *name)
{
    MPI_Pcontrol(KIZAMI_LEVEL_END, name);
}

/* What KIZAMI_LEVEL_COUNT points to. */
struct kizami_told_count {
    const char *name;
    long long amount;
};

static KIZAMI_INLINE void kizami_count(const char *name, long long amount)
{
    struct kizami_told_count told;
    told.name = name;
    told.amount = amount;
    MPI_Pcontrol(KIZAMI_LEVEL_COUNT, &told);
}

#ifdef __cplusplus
}
#endif

#define KIZAMI_REGION_BEGIN(name) kizami_region_begin(name)
#define KIZAMI_REGION_END(name) kizami_region_end(name)
#define KIZAMI_COUNT(name, amount) kizami_count(name, amount)

#ifdef __cplusplus
namespace kizami {

/* A region that lasts as long as the object; `name` must live as long. */
class region {
public:
    KIZAMI_INLINE explicit region(const char *name) : name_(name) { kizami_region_begin(name_); }
    KIZAMI_INLINE ~region() { kizami_region_end(name_); }

private:
    region(const region &);
    region &operator=(const region &);

    const char *name_;
};

} // namespace kizami
#endif

#endif /* KIZAMI_H */
