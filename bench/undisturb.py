#!/usr/bin/env python3
"""How well a run can be shown without the tracer, with a disturbance that is known.

    bench/undisturb.py --kizami target/release/kizami --library target/release/libkizami.so --workloads DIR
                       [--runs 9] [--mpi openmpi --mpi mpich]

DIR is what workloads/build-both.sh made. Every round runs spin_exchange bare, and traced with 0, 5 and 20
microseconds added to each recorded call (KIZAMI_TEST_CALL_COST_NS), one after the other, so that noise of the
machine hits all alike.

Compared are iterations: T is the median iteration of the bare run, beside it the one that was recorded and R, the
one that `kizami undisturb` makes of it; each is the median over the rounds. |R-T|/T is the median over pairs of the
same round. Noise is half the distance between the quartiles of T over the rounds: below it nothing can be told.
The same follows for the whole runs, which on a machine with other work to do are much noisier. Claimed is the
error that `kizami undisturb` itself expects.

All times are of rank 0, from the end of one iteration's last MPI_Allreduce to that of the next.
"""
import argparse
import json
import re
import shutil
import statistics
import tempfile
from pathlib import Path

from launch import launcher, run

COSTS_NS = (0, 5_000, 20_000)
# Arguments, and reductions in an iteration.
MODES = {"halo": (["halo", "2500", "180", "20"], 2), "reduce": (["reduce", "2500", "180", "20"], 8)}


def bare(mpi, program):
    """Median iteration in us, and seconds of the whole."""
    output = run(*launcher(mpi, 2), *program)
    return tuple(float(re.search(rf"{word} ([\d.]+)", output).group(1)) for word in ("median_us", "seconds"))


def iterations(options, trace, reductions):
    """The same of a trace."""
    def ends(op):
        rows = run(options.kizami, "events", trace, "--rank", "0", "--op", op, "--json").splitlines()
        return [json.loads(row)["end_ns"] for row in rows]
    marks = ends("Barrier") + ends("Allreduce")[reductions - 1::reductions]
    return statistics.median(b - a for a, b in zip(marks, marks[1:])) / 1e3, (marks[-1] - marks[0]) / 1e9


def traced(options, mpi, program, reductions, cost_ns, scratch):
    recorded, clean = f"{scratch}/run.kz", f"{scratch}/clean.kz"
    record = [options.kizami, "record", "--library", options.library, "-o", recorded, "--"]
    run(*record, *launcher(mpi, 2), "env", f"KIZAMI_TEST_CALL_COST_NS={cost_ns}", *program)
    said = json.loads(run(options.kizami, "undisturb", recorded, "-o", clean, "--json"))
    figures = iterations(options, recorded, reductions), iterations(options, clean, reductions)
    for trace in (recorded, clean):
        shutil.rmtree(trace)
    return *figures, said["error_ns"] / said["undisturbed_ns"]


def measure(options, mpi, mode):
    arguments, reductions = MODES[mode]
    program = [str(options.workloads / mpi / "spin_exchange"), *arguments]
    truth, runs = [], {cost: [] for cost in COSTS_NS}
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        for _ in range(options.runs):
            truth.append(bare(mpi, program))
            for cost in COSTS_NS:
                runs[cost].append(traced(options, mpi, program, reductions, cost, scratch))
    return truth, runs


def noise(values):
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return 100 * (high - low) / 2 / middle


def report(mpi, mode, truth, runs):
    t = statistics.median(iteration for iteration, _ in truth)
    for cost, figures in runs.items():
        recorded = statistics.median(run[0][0] for run in figures)
        r = statistics.median(run[1][0] for run in figures)
        off = [100 * statistics.median(abs(run[1][part] / true[part] - 1) for run, true in zip(figures, truth))
               for part in (0, 1)]
        noises = [noise([true[part] for true in truth]) for part in (0, 1)]
        claimed = 100 * statistics.median(run[2] for run in figures)
        print(f"{mpi:8} {mode:7} {cost / 1000:4.0f} us {t:7.1f} {recorded:8.1f} {100 * (recorded / t - 1):+6.1f} %"
              f" {r:7.1f} {off[0]:8.2f} % {noises[0]:6.2f} % {off[1]:9.2f} % {noises[1]:6.2f} % {claimed:7.2f} %",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--library", required=True, type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--workloads", required=True, type=Path)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--scratch", help="where traces go (default: the system's temporary directory)")
    options = parser.parse_args()
    print(f"{'MPI':8} {'program':7} {'added':>7} {'T us':>7} {'recorded':>8} {'':>8} {'R us':>7} {'|R-T|/T':>10}"
          f" {'noise':>8} {'whole run':>11} {'noise':>8} {'claimed':>9}")
    for mpi in options.mpi or ["openmpi", "mpich"]:
        for mode in MODES:
            report(mpi, mode, *measure(options, mpi, mode))


if __name__ == "__main__":
    main()
