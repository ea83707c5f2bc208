"""Smallest stacks, fibres, signal stacks and sanitizers."""
import itertools
import re
import shutil

from recording_bench import Counts, Failed, Skipped, check_counts, check_same, run, short


def stacks(bench, _random):
    """Calls where there is little stack, and programs with a sanitizer of their own."""
    count = bench.times(1000, 20)
    ways = [("threads", count, 0)]
    ways += [("fibres", count, size) for size in bench.times([8192, 12288, 16384, 32768], [8192, 16384])]
    ways += [("signals", bench.times(2000, 200), size) for size in bench.times([4096, 8192, 16384], [8192, 16384])]
    for mpi in bench.mpis:
        for words in ways:
            for options in [[], ["--keep", "1%"]]:
                yield "small stacks", f"{mpi}, record {' '.join(options)} -- stacks {' '.join(map(str, words))}", \
                    lambda folder, m=mpi, o=options, w=words: squeezed(bench, folder, m, o, w)
        for sanitizer, fault in [("address", "memory"), ("undefined", "undefined"), ("thread", "race")]:
            for words in ["clean", fault]:
                for leaks in [0, 1] if sanitizer == "address" else [0]:
                    note = f"{', leaks looked for' * leaks}"
                    for compiler in compilers():
                        yield "programs with sanitizers", f"{mpi}, {compiler} -fsanitize={sanitizer}, {words}{note}", \
                            lambda folder, m=mpi, c=compiler, s=sanitizer, w=words, l=leaks: \
                            sanitized(bench, folder, m, c, s, w, l)


def compilers():
    """gcc, and clang by any of its names: its sanitizers are linked into programs, gcc's are libraries beside them."""
    clang = (name for name in ["clang", *(f"clang-{version}" for version in range(30, 11, -1))] if shutil.which(name))
    return ["gcc", *itertools.islice(clang, 1)]


def squeezed(bench, folder, mpi, options, words):
    line = bench.launch(mpi, bench.build(mpi, "stacks"), *words)
    bare = run(line, folder)
    if bare.code != 0:
        raise Skipped(short(bare.told))
    counts = Counts(folder)
    recorded = run(bench.record(line, *options), folder, counts.environment)
    check_same(bare, recorded)
    check_counts(bench.info(folder), counts.calls(), nested=counts.nested())


def sanitized(bench, folder, mpi, compiler, sanitizer, fault, leaks):
    program = bench.build(mpi, "sanitized", f"sanitized-{sanitizer}-{compiler}", f"-fsanitize={sanitizer}",
                          "-fno-sanitize-recover=undefined", compiler=compiler)
    environment = {"ASAN_OPTIONS": f"detect_leaks={leaks}"}
    # One rank: the threads of two race in some MPI libraries.
    line = bench.launch(mpi, program, fault, ranks=1)
    bare = run(line, folder, environment)
    again = run(line, folder, environment)
    if bare.code != again.code:
        raise Skipped("ends in different ways without Kizami")
    recorded = run(bench.record(line), folder, environment)
    if bare.code != recorded.code:
        raise Failed(f"exit code {recorded.code}, without recording {bare.code}: {short(recorded.told[:200])}")
    if sanitizer == "thread":
        return  # which races it sees is a matter of chance
    kinds = [set(re.findall(r"(?:Sanitizer: |runtime error: )([a-z-]+)", one.told)) for one in (bare, recorded)]
    if kinds[0] != kinds[1]:
        raise Failed(f"the sanitizer finds {kinds[1]}, without recording {kinds[0]}: {short(recorded.told[:200])}")
