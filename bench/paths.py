#!/usr/bin/env python3
"""What recording call paths costs a call, by depth and number of paths, in interleaved runs.

    bench/paths.py --library target/release/libkizami.so --workloads DIR [--before OLD.so] [--runs 11] [--mpi mpich ...]

DIR is what workloads/build-both.sh made. Each round runs the workload `depth` without the recorder, with paths, without paths
(--paths off), and with another build of the recorder if one is given. Prints medians over the rounds, in ns per call.
Then the processor time of calls by new paths, and by the same again, from `new_paths`: each figure as its median over the rounds.
"""
import argparse
import re
import shutil
import statistics
import tempfile
from pathlib import Path

from launch import launcher, run

CASES = [(3, 1), (10, 1), (30, 1), (10, 4), (10, 16)]


def once(options, mpi, case, library, paths, raw):
    command = launcher(mpi, 1)
    if library:
        raw.mkdir()
        command += ["env", f"LD_PRELOAD={library}", f"KIZAMI_RAW={raw}", f"KIZAMI_TRACER_PATHS={paths}"]
    program = str(options.workloads / mpi / "depth")
    output = run(*command, program, "20000", *map(str, case))
    shutil.rmtree(raw, ignore_errors=True)
    return float(re.search(r"ns_per_call ([\d.]+)", output).group(1))


def of_new_paths(options, mpi, raw):
    """Median, 99th percentile and maximum in ns, of new paths and again."""
    raw.mkdir()
    settings = [f"LD_PRELOAD={options.library}", f"KIZAMI_RAW={raw}", "KIZAMI_TRACER_PATHS=on"]
    output = run(*launcher(mpi, 1), "env", *settings, str(options.workloads / mpi / "new_paths"))
    shutil.rmtree(raw, ignore_errors=True)
    lines = {line.split()[0]: re.findall(r"_ns (\d+)", line) for line in output.splitlines() if "median_ns" in line}
    return {name: [int(figure) for figure in figures] for name, figures in lines.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--workloads", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--mpi", action="append")
    options = parser.parse_args()
    kinds = {"bare": (None, "on"), "off": (options.library, "off"), "on": (options.library, "on")}
    if options.before:
        kinds["before"] = (options.before, "on")
    print("mpi      depth  paths " + "".join(f"{kind:>9}" for kind in kinds))
    with tempfile.TemporaryDirectory() as scratch:
        for mpi in options.mpi or ["openmpi", "mpich"]:
            for case in CASES:
                figures = {kind: [] for kind in kinds}
                for _ in range(options.runs):
                    for kind, (library, paths) in kinds.items():
                        raw = Path(scratch) / "raw"
                        figures[kind].append(once(options, mpi, case, library, paths, raw))
                medians = "".join(f"{statistics.median(figures[kind]):9.1f}" for kind in kinds)
                print(f"{mpi:8} {case[0]:5} {case[1]:6} {medians}", flush=True)
        print("mpi      paths    median  99 of 100   longest")
        for mpi in options.mpi or ["openmpi", "mpich"]:
            rounds = [of_new_paths(options, mpi, Path(scratch) / "raw") for _ in range(options.runs)]
            for name in ["new", "again"]:
                medians = [statistics.median(figures) for figures in zip(*(each[name] for each in rounds))]
                print(f"{mpi:8} {name:6} {medians[0]:8.0f} {medians[1]:10.0f} {medians[2]:9.0f}", flush=True)


main()
