/*
 * known_waits: one kind of waiting, injected for a known time, over and over.
 *
 *     known_waits PATTERN [MILLISECONDS=20] [ITERATIONS=20] [BASE_MS=40] [sleep|spin]
 *
 * Some ranks compute MILLISECONDS longer than others, who wait for them. With
 * MILLISECONDS 0 it is the same program without the delay: what remains then is
 * what the calls cost by themselves. Computing is sleeping, or with `spin` looking
 * at the clock, until a monotonic clock has moved on so far. Spinning is closer to
 * the real thing and wants a core for each rank: a rank that is not running when
 * its time is up is late by a time slice. Computing lies in regions (kizami.h) of
 * the names of their functions, with D = MILLISECONDS and B = BASE_MS:
 *     delay      what is injected: D
 *     assemble   }
 *     solve      } the ordinary work of the last three patterns: B/2 each
 *
 * What must be lost, in all, by each rank that waits (N = ITERATIONS):
 *
 *     PATTERN               who is late        who waits      where           how long
 *     late_sender           rank 0             all others     MPI_Recv        N x D
 *     late_receiver         odd ranks          even ranks     MPI_Send        N x D
 *     wrong_order           even ranks         odd ranks      first MPI_Recv  N x D
 *     early_reduce          all others         rank 0, root   MPI_Reduce      N x D
 *     late_broadcast        rank 0, root       all others     MPI_Bcast       N x D
 *     early_scan            rank 0             all others     MPI_Scan        N x D
 *     late_post             rank 0, target     all others     see below       N x D
 *     early_wait            all others         rank 0, target MPI_Win_wait    N x D
 *     late_complete         all others         rank 0, target MPI_Win_wait    N x D
 *     lock_contention       rank 0             all others     MPI_Win_lock    N x D
 *     imbalanced_barrier    last rank          all others     MPI_Barrier     N x D
 *     imbalanced_allreduce  last rank          all others     MPI_Allreduce   N x D
 *     slow_rank             last rank          all others     MPI_Allreduce   2N x D/2
 *
 * Nobody else waits, and those who are late never do. To each of these calls add
 * what it costs by itself; that is little but in late_receiver, where a send of
 * 1 MiB lasts until it has been copied.
 *
 * Ranks r and r + 1 (r even) are pairs in late_receiver and wrong_order; where
 * the last rank has no partner it is delayed, too, so that it arrives with the
 * others. In wrong_order the sender sends tag 1, is delayed, and sends tag 2; the
 * receiver asks for tag 2 first, so that the first message lies there meanwhile.
 * In the patterns of windows all others put a number into the window of rank 0,
 * which opens it to them by MPI_Win_post. In late_post it does so late: who waits
 * for that may do so in MPI_Win_start, MPI_Put or MPI_Win_complete, as the MPI
 * library likes. In early_wait the others are delayed before they put, and in
 * late_complete between that and MPI_Win_complete. In lock_contention rank 0 has
 * the lock of its own window for 10 ms more than D, and the others ask for it
 * 10 ms after it; when they get it they have it in turn.
 * In the imbalanced patterns everybody computes B, and the last rank D more, in
 * the region `delay`. In slow_rank it takes longer by the factor 1 + D/B for all
 * it computes (1.5 with the defaults), in the regions `assemble` and `solve`.
 *
 * Before each iteration the ranks agree on a moment to start at, 10 ms after the
 * last of them has come, and sleep until then: no delay reaches the next iteration,
 * and all start it together, even if one learns some ms late of it. This is an
 * MPI_Allreduce on a communicator of its own ("between iterations"). In every
 * pattern all ranks come to it at one time, so it costs no more than it does by
 * itself; only the first also holds what ranks differ in starting. The moment is
 * one of CLOCK_MONOTONIC, so all ranks must run on one host.
 *
 * With more ranks than cores, or other work on the machine, a waiting rank may get
 * its core back a time slice after its wait is over: make MILLISECONDS much larger
 * than a slice (about 4 ms), and let ranks yield while they wait.
 *
 * Calls of each rank:
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Comm_dup, MPI_Comm_set_name,
 *         MPI_Comm_free, MPI_Finalize: 1 each
 *     MPI_Allreduce ITERATIONS, between iterations (8 bytes)
 *     late_sender: rank 0 MPI_Send ITERATIONS x (P - 1) (to each rank, tag 5,
 *         4 bytes); others MPI_Recv ITERATIONS
 *     late_receiver: even ranks MPI_Send ITERATIONS (tag 5, 1 MiB); odd ranks
 *         MPI_Recv ITERATIONS
 *     wrong_order: even ranks MPI_Send 2 x ITERATIONS (tags 1 and 2, 4 bytes);
 *         odd ranks MPI_Recv 2 x ITERATIONS (tags 2 and 1)
 *     late_post, early_wait, late_complete: MPI_Win_allocate, MPI_Win_free,
 *         MPI_Comm_group, MPI_Group_excl (rank 0) or MPI_Group_incl (others): 1
 *         each, MPI_Group_free 2; rank 0 MPI_Win_post and MPI_Win_wait, others
 *         MPI_Win_start, MPI_Put (4 bytes) and MPI_Win_complete: ITERATIONS each
 *     lock_contention: MPI_Win_allocate, MPI_Win_free: 1 each; MPI_Win_lock,
 *         MPI_Win_unlock, of others MPI_Put (4 bytes): ITERATIONS each
 *     others: the call under "where" ITERATIONS (slow_rank 2 x ITERATIONS),
 *         4 bytes, root 0; imbalanced_barrier: on MPI_COMM_WORLD
 *     MPI_Pcontrol: 2 for each time in a region; there is none of 0 ms
 */
#include "kizami.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 5, EARLIER = 1, LATER = 2, LARGE = 1 << 18, SETTLE_MS = 10, HEAD_START_MS = 10 };

static int rank, size;
static double delay_ms, base_ms;
static int spins;
static int large[LARGE];
static MPI_Win window;
static int *memory; /* of the window: one number from each rank */
static MPI_Group opposite; /* rank 0 has all others here, and they have it */

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static void sleep_milliseconds(double ms)
{
    struct timespec rest = {(time_t)(ms / 1e3), 0};
    rest.tv_nsec = (long)(1e6 * (ms - 1e3 * rest.tv_sec));
    nanosleep(&rest, NULL);
}

static void start_together(MPI_Comm between)
{
    double mine = milliseconds() + SETTLE_MS, start;
    MPI_Allreduce(&mine, &start, 1, MPI_DOUBLE, MPI_MAX, between);
    for (double left; (left = start - milliseconds()) > 0;)
        sleep_milliseconds(left);
}

static void compute(const char *region, double ms)
{
    if (ms <= 0)
        return;
    KIZAMI_REGION_BEGIN(region);
    double deadline = milliseconds() + ms;
    for (double left; (left = deadline - milliseconds()) > 0;)
        if (!spins)
            sleep_milliseconds(left);
    KIZAMI_REGION_END(region);
}

/* Not inlined, so that they have a name in every tool. */
__attribute__((noinline)) static void delay(void)
{
    compute("delay", delay_ms);
}

__attribute__((noinline)) static void assemble(double factor)
{
    compute("assemble", factor * base_ms / 2);
}

__attribute__((noinline)) static void solve(double factor)
{
    compute("solve", factor * base_ms / 2);
}

static int is_last(void)
{
    return rank == size - 1;
}

static int sum_of_ranks(int count)
{
    return count * (count - 1) / 2;
}

static int sum_on_all(void)
{
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static int receive(int source, int tag)
{
    int number = -1;
    MPI_Recv(&number, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

static void send(int number, int peer, int tag)
{
    MPI_Send(&number, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
}

/* One iteration of each pattern: whether the result is right. */

static int late_sender(int i)
{
    if (rank != 0)
        return receive(0, TAG) == i;
    delay();
    for (int peer = 1; peer < size; peer++)
        send(i, peer, TAG);
    return 1;
}

static int late_receiver(int i)
{
    if (rank % 2 == 0 && !is_last()) {
        large[0] = large[LARGE - 1] = i;
        MPI_Send(large, LARGE, MPI_INT, rank + 1, TAG, MPI_COMM_WORLD);
        return 1;
    }
    delay();
    if (rank % 2 == 0)
        return 1;
    MPI_Recv(large, LARGE, MPI_INT, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return large[0] == i && large[LARGE - 1] == i;
}

static int wrong_order(int i)
{
    if (rank % 2 == 1)
        return (receive(rank - 1, LATER) == -i) & (receive(rank - 1, EARLIER) == i);
    int has_partner = !is_last();
    if (has_partner)
        send(i, rank + 1, EARLIER);
    delay();
    if (has_partner)
        send(-i, rank + 1, LATER);
    return 1;
}

static int early_reduce(int i)
{
    int sum = -1, mine = rank + i;
    if (rank != 0)
        delay();
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    return rank != 0 || sum == sum_of_ranks(size) + size * i;
}

static int late_broadcast(int i)
{
    int number = rank == 0 ? i : -1;
    if (rank == 0)
        delay();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return number == i;
}

static int early_scan(int i)
{
    int sum = -1, mine = rank + i;
    if (rank == 0)
        delay();
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum == sum_of_ranks(rank + 1) + (rank + 1) * i;
}

static int put_by_all(int i)
{
    for (int peer = 1; peer < size; peer++)
        if (memory[peer] != peer + i)
            return 0;
    return 1;
}

static void put(int i)
{
    static int mine;
    mine = rank + i;
    MPI_Put(&mine, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
}

static int late_post(int i)
{
    if (rank != 0) {
        MPI_Win_start(opposite, 0, window);
        put(i);
        MPI_Win_complete(window);
        return 1;
    }
    delay();
    MPI_Win_post(opposite, 0, window);
    MPI_Win_wait(window);
    return put_by_all(i);
}

static int early_wait(int i)
{
    if (rank == 0) {
        MPI_Win_post(opposite, 0, window);
        MPI_Win_wait(window);
        return put_by_all(i);
    }
    MPI_Win_start(opposite, 0, window);
    delay();
    put(i);
    MPI_Win_complete(window);
    return 1;
}

static int late_complete(int i)
{
    if (rank == 0) {
        MPI_Win_post(opposite, 0, window);
        MPI_Win_wait(window);
        return put_by_all(i);
    }
    MPI_Win_start(opposite, 0, window);
    put(i);
    delay();
    MPI_Win_complete(window);
    return 1;
}

static int lock_contention(int i)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        compute("head start", HEAD_START_MS);
        delay();
        MPI_Win_unlock(0, window);
        return 1;
    }
    compute("head start", HEAD_START_MS);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    put(i);
    MPI_Win_unlock(0, window);
    return 1;
}

static void work_imbalanced(void)
{
    assemble(1);
    solve(1);
    if (is_last())
        delay();
}

static int imbalanced_barrier(int i)
{
    (void)i;
    work_imbalanced();
    MPI_Barrier(MPI_COMM_WORLD);
    return 1;
}

static int imbalanced_allreduce(int i)
{
    (void)i;
    work_imbalanced();
    return sum_on_all() == sum_of_ranks(size);
}

static int slow_rank(int i)
{
    (void)i;
    double factor = is_last() && base_ms > 0 ? 1 + delay_ms / base_ms : 1;
    assemble(factor);
    int first = sum_on_all();
    solve(factor);
    return first == sum_of_ranks(size) && sum_on_all() == first;
}

static void open_window(void)
{
    MPI_Win_allocate(size * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
}

static void open_window_and_groups(void)
{
    open_window();
    MPI_Group all;
    int target = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank == 0)
        MPI_Group_excl(all, 1, &target, &opposite);
    else
        MPI_Group_incl(all, 1, &target, &opposite);
    MPI_Group_free(&all);
}

static void close_window(void)
{
    MPI_Win_free(&window);
}

static void close_window_and_groups(void)
{
    MPI_Group_free(&opposite);
    close_window();
}

static const struct pattern {
    const char *name;
    int (*iterate)(int i);
    void (*begin)(void);
    void (*end)(void);
} patterns[] = {
    {"late_sender", late_sender, NULL, NULL},
    {"late_receiver", late_receiver, NULL, NULL},
    {"wrong_order", wrong_order, NULL, NULL},
    {"early_reduce", early_reduce, NULL, NULL},
    {"late_broadcast", late_broadcast, NULL, NULL},
    {"early_scan", early_scan, NULL, NULL},
    {"late_post", late_post, open_window_and_groups, close_window_and_groups},
    {"early_wait", early_wait, open_window_and_groups, close_window_and_groups},
    {"late_complete", late_complete, open_window_and_groups, close_window_and_groups},
    {"lock_contention", lock_contention, open_window, close_window},
    {"imbalanced_barrier", imbalanced_barrier, NULL, NULL},
    {"imbalanced_allreduce", imbalanced_allreduce, NULL, NULL},
    {"slow_rank", slow_rank, NULL, NULL},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns };

static const struct pattern *find_pattern(const char *name)
{
    for (int i = 0; i < PATTERNS; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

static void usage(void)
{
    fprintf(stderr, "usage: known_waits PATTERN [MILLISECONDS] [ITERATIONS] [BASE_MS] [sleep|spin]\n"
                    "patterns:");
    for (int i = 0; i < PATTERNS; i++)
        fprintf(stderr, " %s", patterns[i].name);
    fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct pattern *pattern = argc > 1 ? find_pattern(argv[1]) : NULL;
    if (!pattern) {
        if (rank == 0)
            usage();
        MPI_Finalize();
        return 2;
    }
    delay_ms = argc > 2 ? atof(argv[2]) : 20;
    int iterations = argc > 3 ? atoi(argv[3]) : 20;
    base_ms = argc > 4 ? atof(argv[4]) : 40;
    spins = argc > 5 && strcmp(argv[5], "spin") == 0;

    MPI_Comm between;
    MPI_Comm_dup(MPI_COMM_WORLD, &between);
    MPI_Comm_set_name(between, "between iterations");
    if (pattern->begin)
        pattern->begin();
    int right = 1;
    for (int i = 0; i < iterations; i++) {
        start_together(between);
        right &= pattern->iterate(i);
    }
    if (pattern->end)
        pattern->end();
    MPI_Comm_free(&between);

    if (!right)
        fprintf(stderr, "known_waits: rank %d: a result of %s is wrong\n", rank, pattern->name);
    else if (rank == 0)
        printf("known_waits %s ranks %d milliseconds %g iterations %d base %g\n", pattern->name, size,
               delay_ms, iterations, base_ms);
    MPI_Finalize();
    return !right;
}
