#!/usr/bin/env python3
"""What recording calls on files costs them, and that nothing is paid where it was not asked for.

    bench/files.py --library target/release/libkizami.so --workloads DIR [--runs 11] [--mpi openmpi --mpi mpich]

DIR is what workloads/build-both.sh made. Runs small_accesses bare, recorded, and recorded with --io, one after the other
in each round, so that noise of the machine hits all alike. Prints a table: medians over the runs, in ns of processor time
per call.
"""
import argparse
import os
import statistics
import tempfile
from pathlib import Path

from launch import launcher, run

KINDS = ("bare", "recorded", "with --io")


def measure(options, mpi):
    program = str((options.workloads / mpi / "small_accesses").resolve())
    figures = {}
    for _ in range(options.runs):
        for kind in KINDS:
            with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
                raw = Path(scratch) / "raw"
                raw.mkdir()
                command = launcher(mpi, 1)
                if kind != "bare":
                    command += ["env", f"LD_PRELOAD={options.library}", f"KIZAMI_RAW={raw}"]
                if kind == "with --io":
                    command += ["KIZAMI_TRACER_IO=posix"]
                os.chdir(scratch)
                for line in run(*command, program).splitlines():
                    call, cost = line.split()
                    figures.setdefault(call, {}).setdefault(kind, []).append(float(cost))
                os.chdir("/")
    return {call: {kind: statistics.median(figures[call][kind]) for kind in KINDS} for call in figures}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--workloads", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--scratch", help="where files and raw segments go (default: the system's temporary directory)")
    options = parser.parse_args()
    print(f"{'MPI':8} {'call':14} " + " ".join(f"{kind:>10}" for kind in KINDS))
    for mpi in options.mpi or ["openmpi", "mpich"]:
        for call, costs in measure(options, mpi).items():
            print(f"{mpi:8} {call:14} " + " ".join(f"{costs[kind]:10.1f}" for kind in KINDS), flush=True)


if __name__ == "__main__":
    main()
