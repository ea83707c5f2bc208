/*
 * pool: tasks without OpenMP, by a pool of C++ threads that steal from each other, told to Kizami by kizami_tasks.h.
 *
 *     pool [SHAPE=tree] [SIZE=0] [MICROSECONDS=1000] [THREADS=4]
 *
 * SIZE 0 stands for the default of the shape:
 *     tree   tasks with SIZE=4 generations of 3 children each, as in naps: a task naps, makes its children, waits for them, and
 *            naps again (those without children nap once). 3 + 9 + ... + 3^SIZE tasks; the root is no task of its own
 *     wave   SIZE x SIZE tasks (10), each after the one above it and the one left of it
 *     sort   SIZE keys (1000000) by quicksort: a task for each part of at least 20000 keys. No naps
 *
 * Each nap lasts from 0.25 to 1.75 times MICROSECONDS, by its place in the graph. Prints how many tasks there were, and what
 * follows from the naps alone: their sum, and the longest chain of naps of which none can begin before the one before it
 * ended. Checks that all naps were taken, in an order that the graph allows, and that keys are sorted.
 */
#include "program.h"
#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <kizami_tasks.h>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/* Tasks that somebody waits for. */
using Group = std::atomic<long>;

struct Job {
    std::function<void()> body;
    Group *group;
    kizami_task told;
};

/* The place in the source that calls it. */
__attribute__((noinline)) static const void *here()
{
    return __builtin_return_address(0);
}

/* Threads with a queue each. Whoever waits works meanwhile: on its own newest task, else on the oldest of another. */
class Pool {
public:
    explicit Pool(int threads) : queues(threads)
    {
        for (int i = 1; i < threads; i++)
            others.emplace_back([this, i] {
                self = i;
                while (!over)
                    work_or_rest();
            });
        /* The first thing told: from here on the program's own first task is known to run. */
        Group none{0};
        wait(none);
    }

    ~Pool()
    {
        over = true;
        for (auto &thread : others)
            thread.join();
    }

    /* The running task makes one that may run at once. Its place is where this was called. */
    __attribute__((noinline)) void spawn(Group &group, std::function<void()> body)
    {
        push(prepare(__builtin_return_address(0), group, std::move(body), {}));
    }

    /* The running task makes one that somebody pushes later. */
    Job *prepare(const void *where, Group &group, std::function<void()> body, std::vector<kizami_need> needs)
    {
        group++;
        made++;
        kizami_task told = kizami_task_create_with(where, needs.data(), (int)needs.size());
        return new Job{std::move(body), &group, told};
    }

    void push(Job *job)
    {
        std::lock_guard<std::mutex> guard(queues[self].lock);
        queues[self].jobs.push_back(job);
    }

    void wait(Group &group)
    {
        kizami_task_wait_begin();
        while (group > 0)
            work_or_rest();
        kizami_task_wait_end();
    }

    std::atomic<long> made{0};

private:
    struct Queue {
        std::mutex lock;
        std::deque<Job *> jobs;
    };

    Job *take(size_t from, bool newest)
    {
        std::lock_guard<std::mutex> guard(queues[from].lock);
        auto &jobs = queues[from].jobs;
        if (jobs.empty())
            return nullptr;
        Job *job = newest ? jobs.back() : jobs.front();
        newest ? jobs.pop_back() : jobs.pop_front();
        return job;
    }

    void work_or_rest()
    {
        Job *found = take(self, true);
        for (size_t i = 1; found == nullptr && i < queues.size(); i++)
            found = take((self + i) % queues.size(), false);
        if (found == nullptr)
            return nap_until(now_ns() + 20000);
        std::unique_ptr<Job> job(found);
        kizami_task_begin(job->told);
        job->body();
        kizami_task_end();
        --*job->group;
    }

    static thread_local size_t self;
    std::vector<Queue> queues;
    std::vector<std::thread> others;
    std::atomic<bool> over{false};
};

thread_local size_t Pool::self = 0;

static double length_ns;
static std::atomic<long> taken{0};

static int64_t nap_ns(uint64_t which)
{
    return (int64_t)(length_ns * (0.25 + 1.5 * chance(1, which)));
}

static void nap(uint64_t which)
{
    nap_until(now_ns() + nap_ns(which));
    taken++;
}

/* What is known without running. */
struct Known {
    long naps = 0;
    int64_t work_ns = 0, chain_ns = 0;

    int64_t add(uint64_t which, int64_t begin)
    {
        int64_t end = begin + nap_ns(which);
        naps++;
        work_ns += nap_ns(which);
        chain_ns = std::max(chain_ns, end);
        return end;
    }
};

/* Children of the node i are 3 i + 1, 3 i + 2 and 3 i + 3; its second nap has an odd number. */
static void tree(Pool &pool, long generations, uint64_t node)
{
    nap(2 * node);
    if (generations == 0)
        return;
    Group children{0};
    for (uint64_t child = 3 * node + 1; child <= 3 * node + 3; child++)
        pool.spawn(children, [&pool, generations, child] { tree(pool, generations - 1, child); });
    pool.wait(children);
    nap(2 * node + 1);
}

static int64_t know_tree(Known &known, long generations, uint64_t node, int64_t begin)
{
    int64_t end = known.add(2 * node, begin);
    if (generations == 0)
        return end;
    int64_t last = end;
    for (uint64_t child = 3 * node + 1; child <= 3 * node + 3; child++)
        last = std::max(last, know_tree(known, generations - 1, child, end));
    return known.add(2 * node + 1, last);
}

/* A task of the wave, and how many before it have not ended. */
struct Cell {
    std::atomic<int> missing{0};
    Job *job = nullptr;
    bool done = false;
};

static bool wave(Pool &pool, Known &known, long n)
{
    std::vector<Cell> cells(n * n);
    std::vector<int64_t> ends(n * n);
    std::atomic<bool> in_order{true};
    Group all{0};
    auto ended = [&](long i, long j) {
        if (i < n && j < n && --cells[i * n + j].missing == 0)
            pool.push(cells[i * n + j].job);
    };
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            Cell &cell = cells[i * n + j];
            Cell *above = i > 0 ? &cells[(i - 1) * n + j] : nullptr, *left = j > 0 ? &cells[i * n + j - 1] : nullptr;
            auto body = [=, &cell, &in_order, &ended] {
                if ((above && !above->done) || (left && !left->done))
                    in_order = false;
                nap(i * n + j);
                cell.done = true;
                ended(i + 1, j);
                ended(i, j + 1);
            };
            std::vector<kizami_need> needs = {{&cell, 1}};
            if (above)
                needs.push_back({above, 0});
            if (left)
                needs.push_back({left, 0});
            cell.missing = (above != nullptr) + (left != nullptr);
            cell.job = pool.prepare(here(), all, body, needs);
            int64_t before = std::max(above ? ends[(i - 1) * n + j] : 0, left ? ends[i * n + j - 1] : 0);
            ends[i * n + j] = known.add(i * n + j, before);
        }
    pool.push(cells[0].job);
    pool.wait(all);
    return in_order;
}

static void quicksort(Pool &pool, uint32_t *first, uint32_t *last)
{
    if (last - first < 20000)
        return std::sort(first, last);
    uint32_t pivot = first[(last - first) / 2];
    uint32_t *equal = std::partition(first, last, [pivot](uint32_t key) { return key < pivot; });
    uint32_t *larger = std::partition(equal, last, [pivot](uint32_t key) { return key == pivot; });
    Group parts{0};
    pool.spawn(parts, [&pool, first, equal] { quicksort(pool, first, equal); });
    pool.spawn(parts, [&pool, larger, last] { quicksort(pool, larger, last); });
    pool.wait(parts);
}

static bool sort(Pool &pool, long n)
{
    std::vector<uint32_t> keys(n);
    for (long i = 0; i < n; i++)
        keys[i] = (uint32_t)(chance(7, i) * 4e9);
    uint64_t before = 0, after = 0;
    for (uint32_t key : keys)
        before += key;
    quicksort(pool, keys.data(), keys.data() + n);
    for (uint32_t key : keys)
        after += key;
    return before == after && std::is_sorted(keys.begin(), keys.end());
}

int main(int argc, char **argv)
{
    const char *shape = argc > 1 ? argv[1] : "tree";
    bool is_tree = strcmp(shape, "tree") == 0, is_wave = strcmp(shape, "wave") == 0;
    if (!is_tree && !is_wave && strcmp(shape, "sort") != 0) {
        fprintf(stderr, "pool: argument 1 is tree, wave or sort, not %s\n", shape);
        return 2;
    }
    long size = number(argc, argv, 2, 0, 0, 100000000);
    length_ns = 1e3 * (double)number(argc, argv, 3, 1000, 0, 1000000);
    nap_exactly();
    Pool pool((int)number(argc, argv, 4, 4, 1, 256));
    Known known;
    bool holds = true;
    if (is_tree) {
        long generations = std::min(size > 0 ? size : 4, 12L);
        know_tree(known, generations, 0, 0);
        tree(pool, generations, 0);
    } else if (is_wave) {
        holds = wave(pool, known, std::min(size > 0 ? size : 10, 100L));
    } else {
        holds = sort(pool, size > 0 ? size : 1000000);
    }
    holds = holds && taken == known.naps;
    printf("pool: %s, naps of %.6f s, longest chain %.6f s, tasks %ld%s\n", shape, (double)known.work_ns / 1e9,
           (double)known.chain_ns / 1e9, pool.made.load(), holds ? "" : ", WRONG");
    return holds ? 0 : 1;
}
