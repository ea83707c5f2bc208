/*
 * paths: calls that are reached by many paths, and what these paths are by the program's own count.
 *
 *     paths FILE [CALLS=13000] [SEED=1]
 *
 * Each of CALLS times, functions call each other at random, up to 14 deep, and the innermost calls MPI_Barrier. Every
 * function of a path (their names begin with p_) notes its name on the way; for each barrier a line is written to FILE: the
 * names, innermost first. Between them lie recursion, pointers to functions, virtual functions, lambdas, frames whose size
 * is known only at run time (alloca, arrays), aligned frames, functions that have caught an exception, functions that the C
 * library calls (qsort), signal handlers, and stacks of the program's own (makecontext). What a tail call leaves has no frame, so
 * nothing here is one.
 *
 * Calls of each rank:  MPI_Init, MPI_Finalize: 1 each
 *                      MPI_Barrier CALLS (of MPI_COMM_SELF)
 */
/* The bindings of MPI's own C++ are of no use here, and warn. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <alloca.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))
#if defined(__clang__)
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

namespace {

std::vector<const char *> names;
FILE *output;
std::uint64_t state;

std::uint64_t random_below(std::uint64_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
}

/* Notes a function while it is being executed. */
struct Noted {
    explicit Noted(const char *name) { names.push_back(name); }
    ~Noted() { names.pop_back(); }
};

/* Nothing behind a call may be left out, or the call would be the function's last. */
#define KEEP_FRAME() asm volatile("" ::: "memory")

void next(int depth);

NOINLINE void p_call()
{
    Noted noted("p_call");
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        std::fprintf(output, "%s%s", name == names.rbegin() ? "" : " ", *name);
    std::fprintf(output, "\n");
    MPI_Barrier(MPI_COMM_SELF);
    KEEP_FRAME();
}

NOINLINE void p_plain(int depth)
{
    Noted noted("p_plain");
    next(depth);
    KEEP_FRAME();
}

NOINLINE void p_other(int depth)
{
    Noted noted("p_other");
    volatile char large[3000];
    large[depth] = 1;
    asm volatile("" ::"r"(&large[0]) : "memory");
    next(depth);
    KEEP_FRAME();
}

NOINLINE void p_recursive(int depth, int more)
{
    Noted noted("p_recursive");
    if (more > 0)
        p_recursive(depth, more - 1);
    else
        next(depth);
    KEEP_FRAME();
}

NOINLINE void p_alloca(int depth)
{
    Noted noted("p_alloca");
    std::size_t bytes = 16 + random_below(2000);
    char *block = static_cast<char *>(alloca(bytes));
    std::memset(block, 1, bytes);
    asm volatile("" ::"r"(block) : "memory");
    next(depth);
    KEEP_FRAME();
}

NOINLINE void p_aligned(int depth)
{
    Noted noted("p_aligned");
    alignas(64) volatile char block[128];
    block[0] = 1;
    asm volatile("" ::"r"(&block[0]) : "memory");
    next(depth);
    KEEP_FRAME();
}

NOINLINE void p_aligned_alloca(int depth)
{
    Noted noted("p_aligned_alloca");
    alignas(64) volatile char block[64];
    block[0] = 1;
    std::size_t bytes = 16 + random_below(500);
    char *more = static_cast<char *>(alloca(bytes));
    std::memset(more, 1, bytes);
    asm volatile("" ::"r"(&block[0]), "r"(more) : "memory");
    next(depth);
    KEEP_FRAME();
}

NOINLINE void p_pointer(int depth)
{
    Noted noted("p_pointer");
    using Function = void (*)(int);
    static const Function functions[] = {p_plain, p_other, p_alloca, p_aligned};
    functions[random_below(4)](depth);
    KEEP_FRAME();
}

struct Base {
    virtual ~Base() = default;
    virtual void run(int depth) = 0;
};

NOINLINE void p_virtual(int depth)
{
    struct Derived : Base {
        void run(int depth) override
        {
            next(depth);
            KEEP_FRAME();
        }
    };
    Noted noted("p_virtual");
    Derived derived;
    Base *volatile base = &derived;
    base->run(depth);
    KEEP_FRAME();
}

NOINLINE void p_lambda(int depth)
{
    Noted noted("p_lambda");
    std::function<void()> call = [depth] {
        next(depth);
        KEEP_FRAME();
    };
    call();
    KEEP_FRAME();
}

NOINLINE void p_throw(int depth)
{
    Noted noted("p_throw");
    if (depth >= 0)
        throw std::runtime_error("caught one function above");
}

NOINLINE void p_caught(int depth)
{
    Noted noted("p_caught");
    try {
        p_throw(depth);
    } catch (const std::runtime_error &) {
        next(depth);
        KEEP_FRAME();
    }
    KEEP_FRAME();
}

int sorted_depth;
bool called;

NOINLINE int p_compare(const void *a, const void *b)
{
    Noted noted("p_compare");
    if (!called) {
        called = true;
        next(sorted_depth);
    }
    KEEP_FRAME();
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

NOINLINE void p_sort(int depth)
{
    Noted noted("p_sort");
    int numbers[2] = {2, 1};
    sorted_depth = depth;
    called = false;
    std::qsort(numbers, 2, sizeof numbers[0], p_compare);
    KEEP_FRAME();
}

int signal_depth;

NOINLINE void p_handler(int)
{
    Noted noted("p_handler");
    next(signal_depth);
    KEEP_FRAME();
}

NOINLINE void p_signal(int depth)
{
    Noted noted("p_signal");
    signal_depth = depth;
    std::raise(SIGUSR1);
    KEEP_FRAME();
}

int fibre_depth;

NOINLINE void p_fibre()
{
    Noted noted("p_fibre");
    next(fibre_depth);
    KEEP_FRAME();
}

/* The path of a fibre begins with its own first function. */
NOINLINE void p_fibres(int depth)
{
    static std::vector<char> stacks[16];
    static int used;
    std::vector<char> &stack = stacks[used % 16];
    stack.resize(256 << 10);
    used++;
    std::vector<const char *> outside;
    outside.swap(names);
    ucontext_t here, there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack.data();
    there.uc_stack.ss_size = stack.size();
    there.uc_link = &here;
    fibre_depth = depth;
    makecontext(&there, p_fibre, 0);
    swapcontext(&here, &there);
    names.swap(outside);
    used--;
}

NOINLINE void next(int depth)
{
    if (depth == 0) {
        p_call();
        KEEP_FRAME();
        return;
    }
    switch (random_below(14)) {
    case 0: p_plain(depth - 1); break;
    case 1: p_other(depth - 1); break;
    case 2: p_recursive(depth - 1, static_cast<int>(random_below(4))); break;
    case 3: p_alloca(depth - 1); break;
    case 4: p_aligned(depth - 1); break;
    case 5: p_aligned_alloca(depth - 1); break;
    case 6: p_pointer(depth - 1); break;
    case 7: p_virtual(depth - 1); break;
    case 8: p_lambda(depth - 1); break;
    case 9: p_caught(depth - 1); break;
    case 10: p_sort(depth - 1); break;
    case 11: p_plain(depth - 1); break;
    case 12: p_signal(depth - 1); break;
    default: p_fibres(depth - 1); break;
    }
    KEEP_FRAME();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: paths FILE [CALLS] [SEED]\n");
        return 2;
    }
    long calls = argc > 2 ? std::atol(argv[2]) : 13000;
    state = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    output = std::fopen(argv[1], "w");
    if (output == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    struct sigaction action = {};
    action.sa_handler = p_handler;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, nullptr);
    MPI_Init(&argc, &argv);
    for (long call = 0; call < calls; call++)
        next(3 + static_cast<int>(random_below(12)));
    MPI_Finalize();
    return std::fclose(output) == 0 ? 0 : 1;
}
