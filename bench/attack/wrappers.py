"""Libraries between program and MPI."""
import shutil

from recording_bench import Counts, Failed, HERE, RANKS, Skipped, check_counts, check_same, run, short


def wrappers(bench, _random):
    """PMPI libraries: how they get in, and which in which order."""
    rounds = bench.times(2000, 200)
    for mpi in bench.mpis:
        for way in ["linked", "LD_PRELOAD", "launcher's option", "inside"]:
            for names in [["doubler"], ["tripler"], ["doubler", "tripler"], ["tripler", "doubler"]]:
                yield "libraries between program and MPI", f"{mpi}, {way}, {' before '.join(names)}", \
                    lambda folder, m=mpi, w=way, n=names: wrapped(bench, folder, m, w, n, rounds)
        for way in ["lazy", "now", "global", "deepbind"]:
            for depth in [1, 2, 3]:
                yield "MPI loaded by a library", f"{mpi}, {way}, by the {depth}. library that another needs", \
                    lambda folder, m=mpi, w=way, d=depth: loaded(bench, folder, m, w, d)
        yield "another tracer at the same time", f"{mpi}, EZTrace", lambda folder, m=mpi: beside_eztrace(bench, folder, m, rounds)


def wrapped(bench, folder, mpi, way, names, rounds):
    program, options, environment = bench.build(mpi, "calls"), [], {}
    libraries = [bench.library(mpi, name) for name in names]
    if way == "linked":
        # All needed, though no symbol of the later ones may be asked for.
        program = bench.build(mpi, "calls", "calls-" + "-".join(names), "-Wl,--no-as-needed", *libraries)
    elif way == "inside":
        # One within the program itself; a second one can only be linked.
        program = bench.build(mpi, "calls", "calls-with-" + "-".join(names), HERE / f"{names[0]}.c",
                              "-Wl,--no-as-needed", *libraries[1:], "-rdynamic", "-ldl")
    else:
        preload = ":".join(map(str, libraries))
        if way == "LD_PRELOAD":
            environment = {"LD_PRELOAD": preload}
        else:
            options = ["-x", f"LD_PRELOAD={preload}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", preload]
    line = bench.launch(mpi, program, rounds, options=options)
    bare = run(line, folder, environment)
    if bare.code != 0 or not any(name in bare.printed for name in names):
        raise Skipped(short(bare.told))
    counts = Counts(folder)
    recorded = run(bench.record(line), folder, environment | counts.environment)
    check_same(bare, recorded)
    info = bench.info(folder)
    check_counts(info, counts.calls())
    calls = {one["op"]: one["calls"] for one in info["functions"]}
    expected = {"MPI_Init": 1, "MPI_Allreduce": rounds, "MPI_Isend": rounds, "MPI_Waitall": rounds, "MPI_Finalize": 1}
    for op, number in expected.items():
        if calls.get(op) != number * RANKS:
            raise Failed(f"{op}: {calls.get(op)} calls recorded of {number * RANKS}")
    if not info["health"]["complete"]:
        raise Failed(f"not complete: {info['health']}")


def loaded(bench, folder, mpi, way, depth):
    """A program without MPI loads a library that needs it, or needs one that does."""
    library = bench.build(mpi, "calls", "libcalls.so", "-shared", "-fPIC", "-Dmain=calls_main")
    for number in range(1, depth):
        outer = library.with_name(f"libouter-{number}.so")
        made = run(["gcc", "-shared", "-o", outer, "-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}"], folder)
        if made.code != 0:
            raise Skipped(short(made.told))
        library = outer
    program = bench.build("alone", "loads")
    line = bench.launch(mpi, program, way, library)
    bare = run(line, folder)
    if bare.code != 0:
        raise Skipped(short(bare.printed + bare.told))
    counts = Counts(folder)
    recorded = run(bench.record(line), folder, counts.environment)
    check_same(bare, recorded)
    if not (folder / "run.kz").exists():
        # Such a library looks at those it needs before any that is preloaded; that nothing was recorded is told.
        if way == "deepbind":
            return
        raise Failed(f"the program made {counts.calls()} calls: {short(recorded.told)}")
    check_counts(bench.info(folder), counts.calls())


def beside_eztrace(bench, folder, mpi, rounds):
    """EZTrace, which wraps MPI as well and makes calls of its own: it sees what it sees without Kizami, and Kizami sees at
    least what the program does."""
    if not shutil.which("eztrace") or not shutil.which("otf2-print"):
        raise Skipped("EZTrace and otf2-print are not installed")
    line = bench.launch(mpi, "eztrace", "-t", mpi, bench.build(mpi, "calls"), rounds)
    bare = run(line, folder)
    if bare.code != 0:
        raise Skipped(short(bare.told))
    seen = eztrace_calls(folder)
    shutil.rmtree(folder / "calls_trace")
    counts = Counts(folder)
    recorded = run(bench.record(line), folder, counts.environment)
    check_same(bare, recorded)
    if eztrace_calls(folder) != seen:
        raise Failed(f"EZTrace saw {eztrace_calls(folder)} calls, without recording {seen}")
    info = bench.info(folder)
    calls = {one["op"]: one["calls"] for one in info["functions"]}
    for op in ["MPI_Allreduce", "MPI_Isend", "MPI_Waitall"]:
        if calls.get(op, 0) < rounds * RANKS:
            raise Failed(f"{op}: {calls.get(op)} calls recorded of {rounds * RANKS}")
    if info["totals"]["calls"] < sum(counts.calls()) or not info["health"]["complete"]:
        raise Failed(f"the program made {counts.calls()} calls: {info['totals']}, {info['health']}")


def eztrace_calls(folder):
    printed = run(["otf2-print", folder / "calls_trace" / "eztrace_log.otf2"], folder)
    return sum(line.startswith("ENTER") for line in printed.printed.splitlines())
