/*
 * radix_sort: sorts 32-bit keys over all ranks, one byte of the key in a pass.
 *
 *     radix_sort [KEYS_PER_RANK=1000]
 *
 * In each pass a rank counts its keys by digit; an exclusive scan tells it how
 * many equal digits lie on lower ranks; the last rank knows the totals and
 * broadcasts them. Then every key knows its place, and travels there with it.
 * At the end neighbours compare their border keys.
 *
 * Calls of each rank:
 *     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize, MPI_Type_contiguous,
 *     MPI_Type_commit, MPI_Type_free: 1 each
 *     MPI_Exscan 4 (1024 bytes), MPI_Bcast 4 (1024 bytes, root the last rank),
 *     MPI_Alltoall 4 (4 bytes to each), MPI_Alltoallv 4 (8 bytes per key),
 *     MPI_Sendrecv 1 (4 bytes, tag 21, to rank - 1, from rank + 1;
 *     MPI_PROC_NULL at the ends), MPI_Scan 1 (8 bytes), MPI_Allreduce 3
 *     (16 bytes before and after, 4 bytes at the end)
 */
#include "counted_calls.h"

#include <stdint.h>

enum { DIGITS = 256, TAG = 21 };

struct placed_key {
    uint32_t place; /* where the key belongs, counted over all ranks */
    uint32_t key;
};

/* Keys depend on their place alone, so the input is the same on any ranks. */
static uint32_t key_at(uint64_t place)
{
    uint64_t x = (place + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
    return (uint32_t)(x >> 32);
}

static void running_sum(const int *count, int *start, int n)
{
    for (int i = 0, sum = 0; i < n; i++) {
        start[i] = sum;
        sum += count[i];
    }
}

static void sort_pass(uint32_t *key, int keys, int shift, int rank, int size, MPI_Datatype placed)
{
    int32_t mine[DIGITS] = {0}, below[DIGITS] = {0}, total[DIGITS];
    for (int i = 0; i < keys; i++)
        mine[key[i] >> shift & 255]++;
    CALL(MPI_Exscan, mine, below, DIGITS, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) /* an exclusive scan leaves rank 0's result undefined */
        memset(below, 0, sizeof below);
    for (int d = 0; d < DIGITS; d++)
        total[d] = below[d] + mine[d];
    CALL(MPI_Bcast, total, DIGITS, MPI_INT32_T, size - 1, MPI_COMM_WORLD);

    uint32_t next[DIGITS];
    for (uint32_t d = 0, base = 0; d < DIGITS; base += total[d], d++)
        next[d] = base + below[d];
    int *send_count = calloc(size, sizeof(int)), *send_start = malloc(size * sizeof(int));
    int *receive_count = malloc(size * sizeof(int)), *receive_start = malloc(size * sizeof(int));
    uint32_t *place = malloc((keys + 1) * sizeof *place);
    for (int i = 0; i < keys; i++) {
        place[i] = next[key[i] >> shift & 255]++;
        send_count[place[i] / keys]++;
    }
    running_sum(send_count, send_start, size);
    struct placed_key *out = malloc((keys + 1) * sizeof *out);
    struct placed_key *in = malloc((keys + 1) * sizeof *in);
    int *fill = malloc(size * sizeof(int));
    memcpy(fill, send_start, size * sizeof(int));
    for (int i = 0; i < keys; i++)
        out[fill[place[i] / keys]++] = (struct placed_key){place[i], key[i]};

    CALL(MPI_Alltoall, send_count, 1, MPI_INT, receive_count, 1, MPI_INT, MPI_COMM_WORLD);
    running_sum(receive_count, receive_start, size);
    CALL(MPI_Alltoallv, out, send_count, send_start, placed, in, receive_count, receive_start,
         placed, MPI_COMM_WORLD);
    for (int i = 0; i < keys; i++)
        key[in[i].place - (uint32_t)keys * rank] = in[i].key;
    free(send_count), free(send_start), free(receive_count), free(receive_start);
    free(place), free(out), free(in), free(fill);
}

/* Sum and sum of squares over all ranks: sorting must not change them. */
static void fingerprint(const uint32_t *key, int keys, uint64_t *all)
{
    uint64_t mine[2] = {0, 0};
    for (int i = 0; i < keys; i++) {
        mine[0] += key[i];
        mine[1] += (uint64_t)key[i] * key[i];
    }
    CALL(MPI_Allreduce, mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    int keys = argc > 1 ? atoi(argv[1]) : 1000;
    if (keys < 1) {
        fprintf(stderr, "radix_sort: needs a key on each rank\n");
        CALL(MPI_Finalize);
        return 2;
    }
    MPI_Datatype placed;
    CALL(MPI_Type_contiguous, 2, MPI_UINT32_T, &placed);
    CALL(MPI_Type_commit, &placed);

    uint32_t *key = malloc(keys * sizeof *key);
    uint64_t before[2], after[2];
    for (int i = 0; i < keys; i++)
        key[i] = key_at((uint64_t)keys * rank + i);
    fingerprint(key, keys, before);
    for (int shift = 0; shift < 32; shift += 8)
        sort_pass(key, keys, shift, rank, size, placed);
    fingerprint(key, keys, after);

    int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    uint32_t next = UINT32_MAX; /* stays where there is no rank above */
    CALL(MPI_Sendrecv, &key[0], 1, MPI_UINT32_T, below, TAG, &next, 1, MPI_UINT32_T, above, TAG,
         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note_send(below, TAG, sizeof next);
    note_receive(above, TAG, sizeof next);
    int64_t here = keys, up_to_here;
    CALL(MPI_Scan, &here, &up_to_here, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);

    int wrong = before[0] != after[0] || before[1] != after[1] || key[keys - 1] > next ||
                up_to_here != (int64_t)keys * (rank + 1);
    for (int i = 1; i < keys; i++)
        wrong |= key[i - 1] > key[i];
    int any_wrong;
    CALL(MPI_Allreduce, &wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong)
        fprintf(stderr, "radix_sort: rank %d is not sorted\n", rank);
    if (rank == 0 && !any_wrong)
        printf("radix_sort ranks %d keys %d smallest %08x checksum %016llx\n", size, keys * size,
               key[0], (unsigned long long)after[1]);
    free(key);
    CALL(MPI_Type_free, &placed);
    CALL(MPI_Finalize);
    write_counts(rank);
    return any_wrong;
}
