#!/usr/bin/env python3
"""What recording costs a call, against the bare run and against the floor, in interleaved runs.

    bench/cost.py --library target/release/libkizami.so --workloads DIR [--runs 11] [--mpi openmpi --mpi mpich]

DIR is what workloads/build-both.sh made. Prints a table: medians over the runs, in ns per call.
Every round runs bare, floor and traced one after the other, so that noise of the machine hits all alike.
"""
import argparse
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from launch import launcher, run

HERE = Path(__file__).resolve().parent
PATTERNS = {
    "cheapest": r"ns_per_call ([\d.]+)",
    "pingpong": r"ns_one_way ([\d.]+)",
    "halo": r"ns_per_call ([\d.]+)",
}


def run_with(preload, raw, mpi, program, arguments):
    command = launcher(mpi, 2)
    if preload:
        command += ["env", f"LD_PRELOAD={preload}"] + ([f"KIZAMI_RAW={raw}"] if raw else [])
    output = run(*command, program, *arguments)
    if raw:
        shutil.rmtree(raw)
        raw.mkdir()
    return output


def measure(options, mpi, name, arguments, floor):
    program = str(options.workloads / mpi / name)
    figures = {"bare": [], "floor": [], "traced": []}
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        raw = Path(scratch) / "raw"
        raw.mkdir()
        for _ in range(options.runs):
            for kind, preload in (("bare", None), ("floor", floor), ("traced", options.library)):
                if preload == floor and name != "cheapest" and kind == "floor":
                    continue
                output = run_with(preload, raw if kind == "traced" else None, mpi, program, arguments)
                figures[kind].append(float(re.search(PATTERNS[name], output).group(1)))
    return {kind: statistics.median(values) for kind, values in figures.items() if values}


def stencil(options, mpi):
    """Run time of the stencil with 1 ms of computation an iteration: median of the ratios of pairs."""
    program = str(options.workloads / mpi / "stencil2d")
    arguments = ["64", "3000", "1000"]
    ratios = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        raw = Path(scratch) / "raw"
        raw.mkdir()
        for _ in range(options.runs):
            times = []
            for preload, directory in ((None, None), (options.library, raw)):
                start = time.perf_counter()
                run_with(preload, directory, mpi, program, arguments)
                times.append(time.perf_counter() - start)
            ratios.append(times[1] / times[0])
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--workloads", required=True, type=Path)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--scratch", help="where raw segments go (default: the system's temporary directory)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as build:
        floor = f"{build}/floor.so"
        run("cc", "-O2", "-shared", "-fPIC", "-o", floor, HERE / "floor.c", "-ldl")
        print(f"{'MPI':8} {'program':10} {'bare':>8} {'floor':>8} {'traced':>8} {'added':>8} {'added/floor':>11}")
        for mpi in options.mpi or ["openmpi", "mpich"]:
            for name, arguments in (("cheapest", ["2000000"]), ("pingpong", ["200000"]), ("halo", ["100000"])):
                m = measure(options, mpi, name, arguments, floor)
                added = m["traced"] - m["bare"]
                ratio = f"{added / (m['floor'] - m['bare']):.2f}" if "floor" in m else ""
                floor_figure = f"{m['floor']:8.1f}" if "floor" in m else " " * 8
                print(f"{mpi:8} {name:10} {m['bare']:8.1f} {floor_figure} {m['traced']:8.1f} {added:8.1f} {ratio:>11}", flush=True)
            print(f"{mpi:8} stencil2d with 1 ms of computation: traced/bare = {stencil(options, mpi):.4f}", flush=True)


if __name__ == "__main__":
    main()
