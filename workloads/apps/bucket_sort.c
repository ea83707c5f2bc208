/*
 * bucket_sort: ranks sort whole numbers that are spread unevenly, several times.
 *
 *     bucket_sort [KEYS=4096] [ROUNDS=5] [BUCKETS=256]
 *
 * Each rank makes KEYS keys of 0 to 2^20 - 1, more small ones than large, from
 * their numbers alone. In each round two keys change; how many keys fall into
 * which of BUCKETS buckets is added up over all ranks, buckets are handed to
 * ranks so that each gets about as many keys, keys travel, and each rank counts
 * its own. How many keys go where depends on the data.
 *
 * Calls of each rank:  MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
 *                      MPI_Allreduce ROUNDS (4 x BUCKETS bytes, SUM) and 1 at the
 *                      end (24 bytes, SUM)
 *                      MPI_Alltoall ROUNDS (4 bytes to each rank)
 *                      MPI_Alltoallv ROUNDS (4 bytes a key)
 *                      MPI_Sendrecv 1: the largest key (4 bytes, tag 0) to the
 *                      next rank, from the one before
 *
 * At the end keys must rise within each rank and from rank to rank, and be as
 * many and have the same sum and the same sum of squares as at first: checked.
 */
#include "counted_calls.h"

#include <stdint.h>

enum { LARGEST = 1 << 20 };

struct keys {
    uint32_t *value;
    int count;
};

struct share {
    int rank, size, buckets;
    int *histogram, *all; /* keys in each bucket: ours, everybody's */
    int *owner;           /* of each bucket */
    int *out, *in, *out_at, *in_at;
};

static void *memory(size_t count, size_t size)
{
    void *some = calloc(count + 1, size);
    if (!some) {
        fprintf(stderr, "bucket_sort: no memory for %zu x %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return some;
}

/* The key with a number: the mean of four scattered ones, squeezed towards 0. */
static uint32_t key(uint64_t number)
{
    uint64_t h = (number + 1) * 0x9E3779B97F4A7C15ull, sum = 0;
    for (int i = 0; i < 4; i++) {
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
        h ^= h >> 27;
        sum += h >> 44;
    }
    uint64_t mean = sum / 4;
    return (uint32_t)(mean * mean / LARGEST);
}

static int bucket_of(const struct share *s, uint32_t value)
{
    return (int)((uint64_t)value * s->buckets / LARGEST);
}

/* Hands buckets to ranks in order; every rank does it alike. */
static void hand_out(struct share *s)
{
    long total = 0, before = 0;
    for (int bucket = 0; bucket < s->buckets; bucket++)
        total += s->all[bucket];
    for (int bucket = 0; bucket < s->buckets; bucket++) {
        long middle = before + s->all[bucket] / 2;
        int owner = total > 0 ? (int)(middle * s->size / total) : 0;
        s->owner[bucket] = owner < s->size ? owner : s->size - 1;
        before += s->all[bucket];
    }
}

static int add_places(const int *counts, int *at, int size)
{
    int sum = 0;
    for (int i = 0; i < size; i++) {
        at[i] = sum;
        sum += counts[i];
    }
    return sum;
}

/* Sends each key to the rank whose bucket it is in. */
static struct keys deal(struct share *s, const struct keys *mine)
{
    memset(s->histogram, 0, s->buckets * sizeof *s->histogram);
    for (int i = 0; i < mine->count; i++)
        s->histogram[bucket_of(s, mine->value[i])]++;
    CALL(MPI_Allreduce, s->histogram, s->all, s->buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    hand_out(s);
    memset(s->out, 0, s->size * sizeof *s->out);
    for (int bucket = 0; bucket < s->buckets; bucket++)
        s->out[s->owner[bucket]] += s->histogram[bucket];
    CALL(MPI_Alltoall, s->out, 1, MPI_INT, s->in, 1, MPI_INT, MPI_COMM_WORLD);
    add_places(s->out, s->out_at, s->size);
    int arriving = add_places(s->in, s->in_at, s->size);

    uint32_t *packed = memory(mine->count, sizeof *packed);
    int *next = memory(s->size, sizeof *next);
    memcpy(next, s->out_at, s->size * sizeof *next);
    for (int i = 0; i < mine->count; i++)
        packed[next[s->owner[bucket_of(s, mine->value[i])]]++] = mine->value[i];
    struct keys arrived = {memory(arriving, sizeof(uint32_t)), arriving};
    CALL(MPI_Alltoallv, packed, s->out, s->out_at, MPI_UINT32_T, arrived.value, s->in, s->in_at, MPI_UINT32_T,
         MPI_COMM_WORLD);
    free(packed);
    free(next);
    return arrived;
}

/* Sorts by counting how often each key is there. */
static void count_out(struct keys *k)
{
    int *times = memory(LARGEST, sizeof *times), at = 0;
    for (int i = 0; i < k->count; i++)
        times[k->value[i]]++;
    for (uint32_t value = 0; value < LARGEST; value++)
        for (; times[value] > 0; times[value]--)
            k->value[at++] = value;
    free(times);
}

static void weigh(const struct keys *k, uint64_t sums[3])
{
    sums[0] = k->count;
    sums[1] = sums[2] = 0;
    for (int i = 0; i < k->count; i++) {
        sums[1] += k->value[i];
        sums[2] += (uint64_t)k->value[i] * k->value[i];
    }
}

/* Whether keys rise here and from the rank before. A rank without keys hands on 0. */
static int out_of_order(const struct share *s, const struct keys *k)
{
    uint32_t mine = k->count > 0 ? k->value[k->count - 1] : 0, before = 0;
    int next = s->rank + 1 < s->size ? s->rank + 1 : MPI_PROC_NULL;
    int previous = s->rank > 0 ? s->rank - 1 : MPI_PROC_NULL, wrong = 0;
    CALL(MPI_Sendrecv, &mine, 1, MPI_UINT32_T, next, 0, &before, 1, MPI_UINT32_T, previous, 0, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    note_send(next, 0, sizeof mine);
    note_receive(previous, 0, sizeof before);
    for (int i = 0; i < k->count; i++) {
        wrong |= k->value[i] < before;
        before = k->value[i];
    }
    return wrong;
}

static int run(struct share *s, int count, int rounds)
{
    struct keys mine = {memory(count, sizeof(uint32_t)), count}, sorted = {0};
    for (int i = 0; i < count; i++)
        mine.value[i] = key((uint64_t)s->rank * count + i);
    for (int round = 0; round < rounds; round++) {
        if (count > 0) {
            mine.value[round % count] = round;
            mine.value[(round + count / 2) % count] = LARGEST - 1 - round;
        }
        free(sorted.value);
        sorted = deal(s, &mine);
    }
    count_out(&sorted);

    int wrong = out_of_order(s, &sorted);
    uint64_t first[3], last[3], difference[3], total[3];
    weigh(&mine, first);
    weigh(&sorted, last);
    for (int i = 0; i < 3; i++)
        difference[i] = last[i] - first[i]; /* whole numbers wrap around: the sum over all ranks is 0 */
    CALL(MPI_Allreduce, difference, total, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    wrong |= total[0] != 0 || total[1] != 0 || total[2] != 0;
    if (wrong)
        fprintf(stderr, "bucket_sort: rank %d: keys are lost or out of order\n", s->rank);
    if (s->rank == 0)
        printf("bucket_sort %d ranks with %d keys, %d rounds: rank 0 has %d keys up to %u, %s\n", s->size,
               count, rounds, sorted.count, sorted.count > 0 ? sorted.value[sorted.count - 1] : 0,
               wrong ? "WRONG" : "sorted");
    free(mine.value);
    free(sorted.value);
    return wrong;
}

int main(int argc, char **argv)
{
    struct share s = {0};
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &s.rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &s.size);
    int count = argc > 1 ? atoi(argv[1]) : 4096;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    s.buckets = argc > 3 ? atoi(argv[3]) : 256;
    if (count < 0 || rounds < 1 || s.buckets < 1) {
        fprintf(stderr, "bucket_sort: KEYS must not be negative, ROUNDS and BUCKETS 1 or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    s.histogram = memory(s.buckets, sizeof(int));
    s.all = memory(s.buckets, sizeof(int));
    s.owner = memory(s.buckets, sizeof(int));
    s.out = memory(s.size, sizeof(int));
    s.in = memory(s.size, sizeof(int));
    s.out_at = memory(s.size, sizeof(int));
    s.in_at = memory(s.size, sizeof(int));
    int wrong = run(&s, count, rounds);
    CALL(MPI_Finalize);
    write_counts(s.rank);
    return wrong;
}
