"""Programs that close or reuse descriptors they do not own."""


from recording_bench import Counts, Failed, Skipped, check_counts, end_all, run, short


def descriptors(bench, draw):
    """Programs that close or reuse descriptors which they did not open."""
    # MPI may need what is gone for its own end, so most programs do without MPI_Finalize.
    ways = [(way, end) for way in ["close", "closeall", "closefrom", "range", "dup2", "reopen"] for end in ["exit", "leave"]]
    ways += [("theirs", end) for end in ["finalize", "exit", "leave", "finalize"]]
    for case in range(bench.times(500, 20)):
        rng = draw()
        mpi = bench.mpis[case % len(bench.mpis)]
        # Steps that share no factor with the number of ways: few cases meet different ones, many meet all.
        way, end = ways[case // len(bench.mpis) * 7 % len(ways)]
        words = [way, rng.randrange(1, 1 << 30), rng.choice([0, 10, 80]), rng.choice([1000, 20000, 300000]), end]
        options = rng.choice([[], ["--memory", "2M"], ["--io"], ["--keep", "1%"], ["--counters", "page-faults"]])
        yield "descriptors closed and reused", \
            f"{mpi}, record {' '.join(options)} -- descriptors {' '.join(map(str, words))}", \
            lambda folder, m=mpi, o=options, w=words: taken(bench, folder, m, o, w)


def foreign_bytes(folder, ended):
    """Files of the program that do not hold what it wrote; where it did not come to its end, one may be short."""
    wrong = []
    for path in folder.glob("*.out"):
        rank, number, _ = path.name.split(".")
        line = f"rank {rank} file {number}\n".encode()
        expected, data = (line * (8192 // len(line) + 1))[:8192], path.read_bytes()
        if data != expected and (ended or not expected.startswith(data)):
            wrong.append(path.name)
    return wrong


def goes_wrong_alone(bench, folder, line):
    """Whether the program is harmed by what it does to MPI itself; by chance, so it gets some tries."""
    for attempt in range(8):
        place = folder / f"bare-{attempt}"
        place.mkdir()
        counts = Counts(place)
        run(line, place, counts.environment, seconds=20)
        end_all()
        if not counts.ended() or foreign_bytes(place, True):
            return True
    return False


def taken(bench, folder, mpi, options, words):
    counts = Counts(folder)
    line = bench.launch(mpi, bench.build(mpi, "descriptors"), *words)
    recorded = run(bench.record(line, *options), folder, counts.environment, seconds=20)
    end_all()
    wrong = foreign_bytes(folder, counts.ended())
    if wrong or not counts.ended() or recorded.code is None:
        if goes_wrong_alone(bench, folder, line):
            raise Skipped("MPI itself does it")
        raise Failed(f"foreign bytes in {wrong}" if wrong else f"did not come to its end: {short(recorded.told)}")
    if "panicked" in recorded.told:
        raise Failed(f"panicked: {short(recorded.told)}")
    check_counts(bench.info(folder), counts.calls())
