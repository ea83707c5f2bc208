#!/usr/bin/env python3
"""Whether what `kizami tasks` says of so many processors is what an OpenMP runtime does with so many threads.

    bench/naps.py measure --kizami target/release/kizami --library target/release/libkizami.so --workloads DIR
                          [--compilers gcc,clang] [--shapes seen,apart,fresh] [--results naps]
    bench/naps.py table --kizami target/release/kizami [--shapes seen,apart,fresh] [--results naps]

DIR holds openmp-gcc and openmp-clang, as workloads/openmp/build.sh makes them. `measure` leaves recordings and times of runs in
the folder of results, and goes on where it was stopped; `table` has kizami foretell from the recordings, and compares.
Tasks of workloads/openmp/naps.c sleep to a deadline instead of computing, so that 64 threads really run 64 tasks at once on two
cores, and their times are the truth.

Protocol. It was written before anything was measured, but for two rules: that runs have priority, and that disturbed runs are
made again. They came after a first measurement on a machine that others worked on, in which naps lasted up to twice as long as
they should, and was thrown away; nothing had been foretold for the shapes APART then.
- Each shape is recorded 3 times with 2 threads. Each recording foretells the time with 1 to 64 threads, with the defaults of
  `kizami tasks` (the strategy is the runtime that was recorded); the median of the three is the prediction.
  What the process does outside of parallel regions is taken off, because the program does not time it.
- The truth is the median of 5 runs without recording for each number of threads, by the program's own clock. Beside it stand
  the shortest and the longest. Numbers of threads take turns, so that noise of the machine hits all alike.
- The program says how late naps ended, all together. A run in which that is more than 2 % of the naps was disturbed by the
  machine and is made again, recorded or not, whatever it took; up to 6 times, then the least disturbed counts.
- The error is (prediction - truth) / truth. A runtime is told by the median of the errors' sizes, and by the largest.
- SEEN are shapes that were looked at while the simulation of runtimes was made. APART are those that were not measured before
  it was done: other shapes, and other sizes and lengths of those that were seen. They decide.
- FRESH came when APART had been seen: since then a prediction is the middle of nine simulations in which tasks are up to 1 %
  longer or shorter by chance, with the shortest and the longest as its range. FRESH were measured once, after that. A point is
  inside if the truth is in the range of the three recordings together, give or take 2 %.
- Runs have the highest priority that there is (`nice -n -20`, which takes root), recorded or not, so that other programs of the
  machine keep no thread from waking up.
- Naps last 0.75 to 5.25 ms, 3 ms on average; how long each is is fixed by a seed.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

THREADS = (1, 2, 4, 8, 16, 32, 64)
MICROSECONDS = "3000"
# Shape, size, seed.
SEEN = (("tree", 4, 1), ("wave", 10, 1), ("cholesky", 7, 1), ("flat", 200, 1))
APART = (
    ("uneven", 6, 1), ("group", 4, 1), ("loop", 100, 1), ("stages", 6, 1),
    ("tree", 4, 2), ("wave", 12, 2), ("cholesky", 8, 2), ("flat", 120, 2),
)
FRESH = (
    ("tree", 4, 3), ("uneven", 6, 3), ("group", 4, 3), ("loop", 120, 3), ("stages", 7, 3), ("wave", 11, 3),
    ("cholesky", 7, 3), ("flat", 150, 3),
)
RECORDINGS, RUNS, RECORDED_THREADS = 3, 5, 2
MOST_LATE, TRIES = 0.02, 6
OUTSIDE = "(outside parallel regions)"


def run(*command, threads=None):
    environment = dict(os.environ) if threads is None else {**os.environ, "OMP_NUM_THREADS": str(threads)}
    first = [] if threads is None else ["nice", "-n", "-20"]
    done = subprocess.run([*first, *(str(part) for part in command)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


def program(options, compiler, case):
    shape, size, seed = case
    return [Path(options.workloads) / f"openmp-{compiler}" / "naps", shape, size, MICROSECONDS, seed]


def traces(options, compiler, case):
    name = "-".join(map(str, (compiler, *case)))
    return [Path(options.results) / f"{name}-{number}.kz" for number in range(RECORDINGS)]


def foretold(options, trace):
    """Seconds by number of threads, of one recording."""
    told = json.loads(run(options.kizami, "tasks", trace, "--json", "-p", ",".join(map(str, THREADS))))
    outside = sum(place["work"] for place in told["places"] if place["name"] == OUTSIDE)
    def seconds(on, what):
        return (on[what] - outside) / 1e9 if on[what] is not None else (on["simulated"] - outside) / 1e9
    return {str(on["processors"]): [seconds(on, what) for what in ("simulated", "simulated_low", "simulated_high")]
            for on in told["processors"]}


def undisturbed(make):
    """What `make` gives, made again until naps end in time; it prints what the program says."""
    best = None
    for _ in range(TRIES):
        said = make()
        figures = re.search(r"naps: ([\d.]+) s, .* naps \d+ of ([\d.]+) s, .* late ([\d.]+) s", said)
        seconds, naps, late = map(float, figures.groups())
        if best is None or late / naps < best[1]:
            best = seconds, late / naps
        if late / naps <= MOST_LATE:
            break
    return best


def truths(options, compiler, case):
    """Seconds of each run, and how late its naps were, by number of threads."""
    found = {str(threads): [] for threads in THREADS}
    for _ in range(RUNS):
        for threads in THREADS:
            command = program(options, compiler, case)
            found[str(threads)].append(undisturbed(lambda: run(*command, threads=threads)))
    return found


def record(options, compiler, case, trace):
    def make():
        shutil.rmtree(trace, ignore_errors=True)
        command = [options.kizami, "record", "--library", options.library, "-o", trace, "--"]
        return run(*command, *program(options, compiler, case), threads=RECORDED_THREADS)
    return undisturbed(make)


def chosen(options):
    shapes = {"seen": SEEN, "apart": APART, "fresh": FRESH}
    return [(name, case) for name in options.shapes.split(",") for case in shapes[name]]


def measure(options):
    results = Path(options.results)
    results.mkdir(parents=True, exist_ok=True)
    times = results / "times.json"
    known = json.loads(times.read_text()) if times.exists() else []
    for shapes, case in chosen(options):
        for compiler in options.compilers.split(","):
            if any((other["compiler"], other["case"]) == (compiler, list(case)) for other in known):
                continue
            late = [record(options, compiler, case, trace)[1] for trace in traces(options, compiler, case)]
            truth = truths(options, compiler, case)
            entry = {"compiler": compiler, "case": list(case), "shapes": shapes, "truth": truth, "late": late}
            known.append(entry)
            times.write_text(json.dumps(known, indent=1))
            print(compiler, *case, flush=True)


def foretold_seconds(entry, threads):
    return statistics.median(one[str(threads)][0] for one in entry["foretold"])


def is_inside(entry, threads):
    """Whether the middle of the real runs is in the range that was told, give or take what a nap may be late."""
    low = min(one[str(threads)][1] for one in entry["foretold"])
    high = max(one[str(threads)][2] for one in entry["foretold"])
    return low * (1 - MOST_LATE) <= statistics.median(taken(entry, threads)) <= high * (1 + MOST_LATE)


def taken(entry, threads):
    return [seconds for seconds, _ in entry["truth"][str(threads)]]


def is_undisturbed(entry, threads):
    """Whether naps ended in time in most runs: more threads that wait busily than there are cores keep naps from ending."""
    return statistics.median(late for _, late in entry["truth"][str(threads)]) <= MOST_LATE


def errors(entry):
    truth = {threads: statistics.median(taken(entry, threads)) for threads in THREADS}
    return [foretold_seconds(entry, threads) / truth[threads] - 1 for threads in THREADS]


def table(options):
    known = json.loads((Path(options.results) / "times.json").read_text())
    known = [entry for entry in known if entry["shapes"] in options.shapes.split(",")]
    for entry in known:
        of = traces(options, entry["compiler"], entry["case"])
        entry["foretold"] = [foretold(options, trace) for trace in of]
    print("| Compiler | Shape | " + " | ".join(f"{threads}" for threads in THREADS) + " |")
    print("|---|---|" + "---|" * len(THREADS))
    for entry in known:
        shape, size, seed = entry["case"]
        cells = []
        for threads, error in zip(THREADS, errors(entry)):
            runs = [1e3 * second for second in taken(entry, threads)]
            said = 1e3 * foretold_seconds(entry, threads)
            cells.append(f"{statistics.median(runs):.0f} ({min(runs):.0f}–{max(runs):.0f}), {said:.0f}: {100 * error:+.1f} %")
        mark = "" if entry["shapes"] == "seen" else " *"
        print(f"| {entry['compiler']} | {shape} {size} {seed}{mark} | " + " | ".join(cells) + " |")
    print()
    print("| Compiler | Shapes | Median error | Largest | Inside the range | Points | Largest, undisturbed | Undisturbed |")
    print("|---|---|---|---|---|---|---|---|")
    for compiler in ("gcc", "clang"):
        for shapes in ("seen", "apart", "fresh"):
            entries = [entry for entry in known if (entry["compiler"], entry["shapes"]) == (compiler, shapes)]
            sizes = [abs(error) for entry in entries for error in errors(entry)]
            if sizes:
                median, largest = 100 * statistics.median(sizes), 100 * max(sizes)
                inside = sum(is_inside(entry, threads) for entry in entries for threads in THREADS)
                calm = [abs(error) for entry in entries for threads, error in zip(THREADS, errors(entry))
                        if is_undisturbed(entry, threads)]
                print(f"| {compiler} | {shapes} | {median:.1f} % | {largest:.1f} % | {inside} | {len(sizes)} "
                      f"| {100 * max(calm):.1f} % | {len(calm)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "table"))
    parser.add_argument("--kizami", default="target/release/kizami")
    parser.add_argument("--library", default="target/release/libkizami.so")
    parser.add_argument("--workloads", default=".")
    parser.add_argument("--compilers", default="gcc,clang")
    parser.add_argument("--shapes", default="seen,apart,fresh")
    parser.add_argument("--results", default="naps")
    options = parser.parse_args()
    measure(options) if options.what == "measure" else table(options)


if __name__ == "__main__":
    main()
