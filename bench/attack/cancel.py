"""Threads that are cancelled while they call MPI, read or write files, or run parallel regions."""
from recording_bench import Counts, Failed, Skipped, check_counts, check_same, run, short


def cancel(bench, _random):
    """The program ends as without Kizami, no lock stays with a thread that is gone, and every call is recorded or lost."""
    count = bench.times(400, 80)
    ways = [("pending", []), ("pending", ["--keep", "1%"]), ("pending", ["--counters", "page-faults"]), ("random", []),
            ("async", []), ("files", ["--io"]), ("openmp", [])]
    for mpi in bench.mpis:
        for way, options in ways:
            yield f"cancelled threads, {way}", f"{mpi}, record {' '.join(options)} -- cancel {way} {count}", \
                lambda folder, m=mpi, o=options, w=way: cancelled(bench, folder, m, o, w, count)


def cancelled(bench, folder, mpi, options, way, count):
    line = bench.launch(mpi, bench.build(mpi, "cancel", None, "-fopenmp"), way, count)
    bare = run(line, folder)
    if bare.code != 0:
        raise Skipped(short(bare.printed + bare.told))
    counts = Counts(folder)
    recorded = run(bench.record(line, *options), folder, counts.environment)
    check_same(bare, recorded)
    info = bench.info(folder)
    check_counts(info, counts.calls(), nested=counts.nested())
    # A thread that ended while its segment was made would leave one that cannot be read.
    if info["totals"]["lost_calls"] == 0 and not info["health"]["complete"]:
        raise Failed(f"incomplete: {info['health']}")
