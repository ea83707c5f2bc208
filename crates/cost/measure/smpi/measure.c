/* The measuring rank for SimGrid's simulator SMPI, which cannot be loaded at run time.

   It speaks the protocol of the Rust crate around it (see ../src/lib.rs) and measures the same operations:

       smpicc -O2 measure.c -o measure -lm
       smpirun -np 16 -platform X.xml -hostfile Y --cfg=smpi/simulate-computation:no ./measure

   Commands come on standard input, answers go to standard output. Simulated time is exact, so three repetitions are
   enough if they are all equal, nothing needs to warm up, and spinning is computation that is only simulated.

   It promises not to rely on what ranks share: smpirun gives each rank its own global variables, and all ranks have
   buffers of their own (large ones are folded into the same memory by the simulator, which moves no data there).

   It does not do neighbours in the simulator, which has none. Built by another mpicc it measures real time, to be
   compared with the Rust rank; then all ranks must be on one host, since clocks are not compared. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD
/* For what is not measured, so that the first call on the world is the first. */
static MPI_Comm control;
#define IGNORE MPI_STATUS_IGNORE
enum { TAG = 72, READY_TAG = 73, STREAM = 16, BATCH = 10, MOST_SPANS = 200, LINE_BYTES = 256, MOST_BYTES = 1 << 30 };

#ifdef SMPI_H
#include <simgrid/host.h>
enum { FEWEST = 3, WARM_UPS = 0, HAS_NEIGHBOURS = 0, SHARED_FROM_BYTES = 1 << 20 };
static double now_ns(void) { return MPI_Wtime() * 1e9; }
/* Not smpi_execute, which scales by the speed of the host that simulates. */
static void compute_ns(double ns) { smpi_execute_flops(ns * 1e-9 * sg_host_get_speed(sg_host_self())); }
static void spin_ns(double ns) { compute_ns(ns); }
static void *allocate(size_t bytes) { return bytes < SHARED_FROM_BYTES ? malloc(bytes) : SMPI_SHARED_MALLOC(bytes); }
static void release(void *at, size_t bytes) { if (bytes < SHARED_FROM_BYTES) free(at); else SMPI_SHARED_FREE(at); }
#else
enum { FEWEST = 5, WARM_UPS = 2, HAS_NEIGHBOURS = 1 };
/* Not MPI_Wtime, which counts from another moment on each rank in Open MPI. */
static double now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static void spin_ns(double ns) { for (double end = now_ns() + ns; now_ns() < end;) continue; }
static unsigned long steps(double count) { unsigned long s = 1; for (; count > 0; count--) s = s * 6364136223846793005ul + 1; return s; }
static void compute_ns(double ns) {
  static double steps_per_ns = 0; static volatile unsigned long sink;
  for (int trial = 0; steps_per_ns == 0 || trial < 5; trial++) {
    double start = now_ns(); sink = steps(2e5); double pace = 2e5 / (now_ns() - start);
    if (pace > steps_per_ns) steps_per_ns = pace; else if (trial > 0) break;
  }
  sink = steps(ns * steps_per_ns); (void)sink;
}
static void *allocate(size_t bytes) { void *at = malloc(bytes); memset(at, 1, bytes); return at; }
static void release(void *at, size_t bytes) { (void)bytes; free(at); }
#endif

/* What can be measured. The non-blocking form of a collective has an I before its name. */
enum Op { BARRIER, BCAST, REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, GATHER, GATHERV, SCATTER, SCATTERV,
  ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, NEIGHBOR_ALLGATHER, NEIGHBOR_ALLTOALL, COLLECTIVES,
  SENDRECV = COLLECTIVES, PUT, GET, PINGPONG, SEND, RECEIVE, STREAMING, EXCHANGE, CROSSING, NOISE, NOTHING };
static const char *const NAMES[] = { "barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan",
  "exscan", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
  "neighbor_allgather", "neighbor_alltoall" };
static const char *const OTHERS[][2] = { { "MPI_Sendrecv", "shift" }, { "MPI_Put", "plain" }, { "MPI_Get", "plain" },
  { "message", "pingpong" }, { "message", "send" }, { "message", "receive" }, { "message", "stream" }, { "message", "exchange" },
  { "message", "crossing" }, { "noise", "spin" } };
enum Form { BLOCKING, STARTED, OVERLAPPED };
enum Spread { EVEN, SPARSE, SKEWED };

/* What is measured now. */
static enum Op op; static enum Form form; static enum Spread spread;
static int bytes; static double known_ns; static MPI_Comm comm; static MPI_Win window;
static MPI_Datatype element; static int vector, part, *gives, *give_at, *gets, *get_at; static MPI_Datatype *types;
static char *give, *get; static size_t give_room, get_room;
static int rank, ranks;

struct sample { double start, end; };
struct limits { int most; double seconds, tolerance; };

static int at_least_one(int n) { return n < 1 ? 1 : n; }

/* What rank `from` gives to rank `to`. */
static int gift(int from, int to) {
  int far = 2 * ranks / 5, around[4] = { 1, ranks - 1, far, ranks - far }, shares = 0, others = 0;
  switch (spread) {
  case SPARSE:
    for (int k = 0; k < 4; k++) shares += (from + around[k]) % ranks == to, others += around[k] % ranks != 0;
    return from == to ? 0 : shares * at_least_one(bytes / at_least_one(others));
  case SKEWED:
    if (ranks == 1) return at_least_one(bytes);
    return at_least_one((from + 1) % ranks == to ? bytes / 2 : bytes / 2 / (ranks - 1));
  default: return at_least_one(bytes / ranks);
  }
}

static void grow(char **buffer, size_t *room, size_t need) {
  if (*room >= need) return;
  if (*buffer) release(*buffer, *room);
  *buffer = allocate(need); *room = need;
}

/* Sizes and buffers for what one rank moves in all. */
static void prepare(MPI_Comm on) {
  int whole_vector = op == REDUCE || op == ALLREDUCE || op == SCAN || op == EXSCAN;
  int for_numbers = whole_vector ? bytes : bytes / ranks, size = for_numbers < 8 ? 4 : 8;
  element = size == 4 ? MPI_INT : MPI_DOUBLE;
  vector = at_least_one(for_numbers / size);
  part = at_least_one(op >= NEIGHBOR_ALLGATHER ? bytes / 2 : bytes / ranks);
  size_t gives_all = 0, gets_all = 0;
  for (int i = 0; i < ranks; i++) {
    gives[i] = op == REDUCE_SCATTER ? vector : op == ALLTOALLV || op == ALLTOALLW ? gift(rank, i) : part;
    gets[i] = op == ALLTOALLV || op == ALLTOALLW ? gift(i, rank) : part;
    give_at[i] = gives_all; get_at[i] = gets_all;
    gives_all += gives[i]; gets_all += gets[i]; types[i] = MPI_BYTE;
  }
  size_t need = bytes + 64;
  if (need < gives_all * (op == REDUCE_SCATTER ? 8 : 1)) need = gives_all * 8;
  if (op == REDUCE_SCATTER_BLOCK && need < (size_t)vector * size * ranks) need = (size_t)vector * size * ranks;
  grow(&give, &give_room, need);
  grow(&get, &get_room, op == STREAMING ? (size_t)bytes * STREAM + 64 : need > gets_all ? need : gets_all);
  comm = on;
  if (op == NEIGHBOR_ALLGATHER || op == NEIGHBOR_ALLTOALL) {
    int periodic = 1; MPI_Cart_create(on, 1, &ranks, &periodic, 0, &comm);
  }
  if (op == PUT || op == GET) { MPI_Win_create(op == PUT ? get : give, bytes, 1, MPI_INFO_NULL, on, &window); MPI_Win_fence(0, window); }
}

static void clear_away(void) {
  if (op == NEIGHBOR_ALLGATHER || op == NEIGHBOR_ALLTOALL) MPI_Comm_free(&comm);
  if (op == PUT || op == GET) MPI_Win_free(&window);
}

/* A collective, or its non-blocking form with a wait and perhaps some computation before that. */
#define CALL(blocking, started, ...) do { \
    if (form == BLOCKING) { blocking(__VA_ARGS__); break; } \
    MPI_Request request; started(__VA_ARGS__, &request); \
    if (form == OVERLAPPED) spin_ns(known_ns); \
    MPI_Wait(&request, IGNORE); \
  } while (0)

static struct sample collective(void) {
  int all = at_least_one(bytes);
  struct sample s; s.start = now_ns();
  switch (op) {
  case BARRIER: CALL(MPI_Barrier, MPI_Ibarrier, comm); break;
  case BCAST: CALL(MPI_Bcast, MPI_Ibcast, get, all, MPI_BYTE, ranks - 1, comm); break;
  case REDUCE: CALL(MPI_Reduce, MPI_Ireduce, give, get, vector, element, MPI_SUM, 0, comm); break;
  case ALLREDUCE: CALL(MPI_Allreduce, MPI_Iallreduce, give, get, vector, element, MPI_SUM, comm); break;
  case REDUCE_SCATTER: CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, give, get, gives, element, MPI_SUM, comm); break;
  case REDUCE_SCATTER_BLOCK: CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, give, get, vector, element, MPI_SUM, comm); break;
  case SCAN: CALL(MPI_Scan, MPI_Iscan, give, get, vector, element, MPI_SUM, comm); break;
  case EXSCAN: CALL(MPI_Exscan, MPI_Iexscan, give, get, vector, element, MPI_SUM, comm); break;
  case GATHER: CALL(MPI_Gather, MPI_Igather, give, part, MPI_BYTE, get, part, MPI_BYTE, 0, comm); break;
  case GATHERV: CALL(MPI_Gatherv, MPI_Igatherv, give, part, MPI_BYTE, get, gets, get_at, MPI_BYTE, 0, comm); break;
  case SCATTER: CALL(MPI_Scatter, MPI_Iscatter, give, part, MPI_BYTE, get, part, MPI_BYTE, 0, comm); break;
  case SCATTERV: CALL(MPI_Scatterv, MPI_Iscatterv, give, gives, give_at, MPI_BYTE, get, part, MPI_BYTE, 0, comm); break;
  case ALLGATHER: CALL(MPI_Allgather, MPI_Iallgather, give, part, MPI_BYTE, get, part, MPI_BYTE, comm); break;
  case ALLGATHERV: CALL(MPI_Allgatherv, MPI_Iallgatherv, give, part, MPI_BYTE, get, gets, get_at, MPI_BYTE, comm); break;
  case ALLTOALL: CALL(MPI_Alltoall, MPI_Ialltoall, give, part, MPI_BYTE, get, part, MPI_BYTE, comm); break;
  case ALLTOALLV: CALL(MPI_Alltoallv, MPI_Ialltoallv, give, gives, give_at, MPI_BYTE, get, gets, get_at, MPI_BYTE, comm); break;
  case ALLTOALLW: CALL(MPI_Alltoallw, MPI_Ialltoallw, give, gives, give_at, types, get, gets, get_at, types, comm); break;
#ifndef SMPI_H
  case NEIGHBOR_ALLGATHER: CALL(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, give, part, MPI_BYTE, get, part, MPI_BYTE, comm); break;
  case NEIGHBOR_ALLTOALL: CALL(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, give, part, MPI_BYTE, get, part, MPI_BYTE, comm); break;
#endif
  default: break;
  }
  s.end = now_ns();
  return s;
}

static struct sample exchange(int peer) {
  MPI_Request both[2];
  struct sample s; s.start = now_ns();
  MPI_Irecv(get, bytes, MPI_BYTE, peer, TAG, comm, &both[0]);
  MPI_Isend(give, bytes, MPI_BYTE, peer, TAG, comm, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  s.end = now_ns();
  return s;
}

/* A length that this rank measured itself looks like a span from 0. */
static struct sample took(double ns) { struct sample s = { 0, ns }; return s; }

/* Rank 0's part of what two ranks do, then the last rank's. */
static struct sample as_first(int peer) {
  struct sample s = { 0, 0 }; MPI_Request all[STREAM]; double start;
  switch (op) {
  case PINGPONG: /* the other may leave the barrier later */
    MPI_Recv(get, 0, MPI_BYTE, peer, READY_TAG, comm, IGNORE);
    start = now_ns();
    MPI_Send(give, bytes, MPI_BYTE, peer, TAG, comm); MPI_Recv(get, bytes, MPI_BYTE, peer, TAG, comm, IGNORE);
    return took((now_ns() - start) / 2);
  case SEND: /* the receiver shall wait already */
    spin_ns(20e3); start = now_ns(); MPI_Send(give, bytes, MPI_BYTE, peer, TAG, comm);
    return took(now_ns() - start);
  case STREAMING:
    MPI_Recv(get, 0, MPI_BYTE, peer, READY_TAG, comm, IGNORE);
    s.start = now_ns() / STREAM;
    for (int k = 0; k < STREAM; k++) MPI_Isend(give, bytes, MPI_BYTE, peer, TAG, comm, &all[k]);
    MPI_Waitall(STREAM, all, MPI_STATUSES_IGNORE);
    return s;
  case EXCHANGE: return exchange(peer);
  default: MPI_Send(give, bytes, MPI_BYTE, peer, TAG, comm); return s;
  }
}

static struct sample as_last(int peer) {
  struct sample s = { 0, 0 }; MPI_Request all[STREAM]; double start;
  switch (op) {
  case PINGPONG:
    MPI_Send(give, 0, MPI_BYTE, peer, READY_TAG, comm);
    MPI_Recv(get, bytes, MPI_BYTE, peer, TAG, comm, IGNORE); MPI_Send(give, bytes, MPI_BYTE, peer, TAG, comm);
    return s;
  case RECEIVE: /* the message shall be there already */
    spin_ns(fmax(200e3, 3 * known_ns)); start = now_ns(); MPI_Recv(get, bytes, MPI_BYTE, peer, TAG, comm, IGNORE);
    return took(now_ns() - start);
  case STREAMING:
    for (int k = 0; k < STREAM; k++) MPI_Irecv(get + (size_t)k * bytes, bytes, MPI_BYTE, peer, TAG, comm, &all[k]);
    MPI_Send(give, 0, MPI_BYTE, peer, READY_TAG, comm);
    MPI_Waitall(STREAM, all, MPI_STATUSES_IGNORE);
    s.end = now_ns() / STREAM;
    return s;
  case EXCHANGE: return exchange(peer);
  default: MPI_Recv(get, bytes, MPI_BYTE, peer, TAG, comm, IGNORE); return s;
  }
}

/* Does it once. */
static struct sample once(void) {
  struct sample s = { 0, 0 }; int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  if (op < COLLECTIVES) return collective();
  switch (op) {
  case SENDRECV:
    s.start = now_ns();
    MPI_Sendrecv(give, bytes, MPI_BYTE, before, TAG, get, bytes, MPI_BYTE, next, TAG, comm, IGNORE);
    s.end = now_ns(); return s;
  case PUT: case GET:
    s.start = now_ns();
    if (op == PUT) MPI_Put(give, bytes, MPI_BYTE, next, 0, bytes, MPI_BYTE, window);
    else MPI_Get(get, bytes, MPI_BYTE, next, 0, bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    s.end = now_ns(); return s;
  case NOISE: s.start = now_ns(); compute_ns(bytes); return took(now_ns() - s.start);
  case CROSSING: return (rank ^ 1) < ranks ? exchange(rank ^ 1) : s;
  default: return rank == 0 ? as_first(ranks - 1) : rank == ranks - 1 ? as_last(0) : s;
  }
}

/* So many repetitions, each after a barrier. Rank 0 gets the spans: from the latest start to the latest end. */
static double clock_cost; /* simulated clocks take some time themselves */
static void batch(int count, double *spans) {
  double mine[2 * BATCH] = { 0 }, latest[2 * BATCH] = { 0 };
  for (int i = 0; i < count; i++) {
    MPI_Barrier(control); struct sample s = once(); mine[2 * i] = s.start; mine[2 * i + 1] = s.end;
  }
  MPI_Reduce(mine, latest, 2 * count, MPI_DOUBLE, MPI_MAX, 0, control);
  for (int i = 0; rank == 0 && i < count; i++) spans[i] = fmax(0, latest[2 * i + 1] - latest[2 * i] - clock_cost);
}

static int by_size(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }

/* Whether all are equal to a nanosecond, or the 95 % interval of the median is within a tolerance of it. */
static int is_steady(const double *sorted, int n, double tolerance) {
  if (sorted[n - 1] - sorted[0] <= 1) return 1;
  int below = (int)floor(n / 2.0 - 0.98 * sqrt(n) + 0.5); double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  return below >= 1 && sorted[below - 1] >= median * (1 - tolerance) && sorted[n - below] <= median * (1 + tolerance);
}

/* Repeats within limits. Rank 0 gets the spans, all get the median. */
static double repeat(struct limits limits, double *spans, int *count) {
  double warm = INFINITY, plan[2], *sorted = malloc((limits.most + BATCH) * sizeof *sorted);
  prepare(WORLD);
  for (int i = 0; i < WARM_UPS; i++) { MPI_Barrier(control); double start = now_ns(); once(); warm = fmin(warm, now_ns() - start); }
  double start = now_ns(), seconds_ns = limits.seconds * 1e9;
  for (*count = 0;; *count += plan[0]) {
    if (rank == 0) {
      int n = *count, left = limits.most - n; double used = now_ns() - start;
      memcpy(sorted, spans, n * sizeof *spans); qsort(sorted, n, sizeof *sorted, by_size);
      double shortest = n ? fmin(warm, sorted[0]) : warm;
      if (n == 0) plan[0] = warm > seconds_ns ? 1 : FEWEST;
      else if (n < FEWEST && shortest <= seconds_ns) plan[0] = FEWEST - n;
      else if (used >= seconds_ns || is_steady(sorted, n, limits.tolerance)) plan[0] = 0;
      else plan[0] = fmin(BATCH - n % BATCH, fmax(1, ceil((seconds_ns - used) * n / used)));
      plan[0] = fmin(plan[0], left);
      plan[1] = n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
    }
    MPI_Bcast(plan, 2, MPI_DOUBLE, 0, control);
    if (plan[0] == 0) break;
    batch((int)plan[0], spans + *count);
  }
  clear_away(); free(sorted);
  return plan[1];
}

/* What an operation and a pattern mean; 0 if nothing. */
static int find(const char *name, const char *pattern) {
  char lower[64] = ""; form = BLOCKING; spread = EVEN;
  for (op = SENDRECV; op < NOTHING; op++)
    if (!strcmp(name, OTHERS[op - SENDRECV][0]) && !strcmp(pattern, OTHERS[op - SENDRECV][1])) return 1;
  if (strncmp(name, "MPI_", 4) || strlen(name) >= sizeof lower) return 0;
  if (name[4] == 'I') form = strcmp(pattern, "overlapped") ? STARTED : OVERLAPPED;
  strcpy(lower, name + 4 + (form != BLOCKING));
  if (lower[0] >= 'A' && lower[0] <= 'Z') lower[0] += 'a' - 'A';
  for (op = BARRIER; op < COLLECTIVES && strcmp(lower, NAMES[op]); op++) continue;
  if (op == COLLECTIVES) return 0;
  if (op == ALLTOALLV && form == BLOCKING) spread = !strcmp(pattern, "sparse") ? SPARSE : !strcmp(pattern, "skewed") ? SKEWED : EVEN;
  return form == OVERLAPPED || spread != EVEN || !strcmp(pattern, "plain");
}

static const char *hindrance(long asked) {
  if (op >= PINGPONG && op <= CROSSING && ranks < 2) return "it needs two ranks";
  if (asked < 0 || asked > MOST_BYTES) return "it is more than 1 GiB";
  if (op == STREAMING && asked > MOST_BYTES / STREAM) return "it is more than 64 MiB";
  if (!HAS_NEIGHBOURS && (op == NEIGHBOR_ALLGATHER || op == NEIGHBOR_ALLTOALL)) return "the simulator has no neighbours";
  return NULL;
}

/* Measures one row and tells it. */
static void measure(const char *name, const char *pattern, long asked, struct limits limits) {
  static char called[64][64]; static int calls = 0; /* operations that were called before */
  const char *reason = find(name, pattern) ? hindrance(asked) : "there is no such operation or pattern";
  if (reason) { if (rank == 0) printf("kizami: cannot %s %s %ld %s\n", name, pattern, asked, reason); return; }
  double first = -1, *spans = malloc((limits.most + BATCH) * sizeof *spans); int count, known = 0;
  bytes = (int)asked; known_ns = 0;
  for (int i = 0; i < calls; i++) known |= !strcmp(called[i], name);
  if (!known) {
    /* On the world itself: some algorithms make their communicators there once. */
    prepare(WORLD); batch(1, &first); clear_away();
    if (calls < 64) strcpy(called[calls++], name);
  }
  if (form == OVERLAPPED) { form = STARTED; known_ns = repeat(limits, spans, &count); form = OVERLAPPED; }
  if (op == RECEIVE) { op = PINGPONG; known_ns = repeat(limits, spans, &count); op = RECEIVE; }
  repeat(limits, spans, &count);
  if (rank == 0) {
    printf("kizami: row %s %s %ld ", name, pattern, asked);
    if (known) printf("- %d", count); else printf("%.0f %d", first, count);
    int told = count > MOST_SPANS ? MOST_SPANS : count;
    if (told < count) { qsort(spans, count, sizeof *spans, by_size); printf(" %d", told); }
    for (int i = 0; i < told; i++) printf(" %.0f", spans[told < count ? (long)i * (count - 1) / (told - 1) : i]);
    printf("\n");
  }
  free(spans);
}

/* Tells where the ranks are and which MPI this is. */
static void introduce(void) {
  char mine[MPI_MAX_PROCESSOR_NAME] = "", version[MPI_MAX_LIBRARY_VERSION_STRING] = "", *hosts = NULL; int length, nodes = 0, most = 0;
  MPI_Get_processor_name(mine, &length); MPI_Get_library_version(version, &length);
  if (rank == 0) hosts = malloc((size_t)ranks * sizeof mine);
  MPI_Gather(mine, sizeof mine, MPI_CHAR, hosts, sizeof mine, MPI_CHAR, 0, control);
  if (rank != 0) return;
  qsort(hosts, ranks, sizeof mine, (int (*)(const void *, const void *))strcmp);
  for (int i = 0, run = 0; i < ranks; i++) {
    int same = i > 0 && !strcmp(hosts + i * sizeof mine, hosts + (i - 1) * sizeof mine);
    nodes += !same; run = same ? run + 1 : 1; if (run > most) most = run;
  }
  version[strcspn(version, "\n")] = 0;
  for (char *c = version; *c; c++) if (*c == '\t') *c = ' ';
  printf("kizami: here %d %d %d %s | %.120s\n", ranks, nodes, most, mine, version);
  free(hosts);
}

/* Reads until there is a command, at rank 0. */
static void next_line(char *line) {
  char word[32], name[64], pattern[64]; long size; struct limits l; int more;
  while (fgets(line, LINE_BYTES, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%31s", word) != 1) continue;
    if (!strcmp(word, "quit")) return;
    if (sscanf(line, "measure %63s %63s %ld %d %lf %lf %n", name, pattern, &size, &l.most, &l.seconds, &l.tolerance, &more) == 6) return;
    printf("kizami: misunderstood %s\n", line); fflush(stdout);
  }
  strcpy(line, "quit");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank); MPI_Comm_size(WORLD, &ranks);
  MPI_Comm_dup(WORLD, &control);
  gives = malloc(ranks * sizeof *gives); give_at = malloc(ranks * sizeof *give_at);
  gets = malloc(ranks * sizeof *gets); get_at = malloc(ranks * sizeof *get_at);
  types = malloc(ranks * sizeof *types);
#ifdef SMPI_H
  clock_cost = now_ns(); clock_cost = now_ns() - clock_cost;
#endif
  introduce();
  for (;;) {
    char line[LINE_BYTES] = "", name[64], pattern[64]; long size; struct limits limits;
    if (rank == 0) { fflush(stdout); next_line(line); }
    MPI_Bcast(line, LINE_BYTES, MPI_CHAR, 0, control);
    if (sscanf(line, "measure %63s %63s %ld %d %lf %lf", name, pattern, &size, &limits.most, &limits.seconds, &limits.tolerance) != 6) break;
    limits.most = at_least_one(limits.most);
    measure(name, pattern, size, limits);
  }
  MPI_Finalize();
  return 0;
}
