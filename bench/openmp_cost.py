#!/usr/bin/env python3
"""What recording OpenMP tasks costs, beside the same programs bare and under EZTrace.

    bench/openmp_cost.py --library target/release/libkizami.so --workloads DIR [--runs 7] [--program "fib 27 40"]...
                         [--compiler gcc --compiler clang] [--eztrace COMMAND]

DIR holds openmp-gcc and openmp-clang, as .ci/prepare fills it. COMMAND is EZTrace's, of a system or of a folder that its
packages were unpacked into; it sees tasks of LLVM's runtime only (programs of GCC must be compiled for it). Each round runs a program in all ways, one after the other, so that noise of the machine
hits all alike. Times are processor time of the whole process, helper threads included, on one thread unless
OMP_NUM_THREADS says otherwise. Prints nanoseconds more than bare for each task (the median over rounds, and the least
of all runs against the least bare one) and bytes left for each task.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = ("fib 27 40", "nqueens 12 12")
TASKS = re.compile(r"tasks (\d+)")


def under_eztrace(eztrace, folder):
    """The words before a program, and the variables. Libraries lie beside the command, or where the system has them."""
    beside = [str(path.parent) for path in eztrace.parent.parent.rglob("libeztrace-ompt.so")]
    variables = {"EZTRACE_LIBRARY_PATH": beside[0], "LD_LIBRARY_PATH": beside[0]} if beside else {}
    return [str(eztrace), "-t", "ompt", "-o", f"{folder}/trace"], variables


def run(command, variables, folder):
    """Seconds of processor time, and how many tasks the program says that it made."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ, **variables}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed with {done.returncode}: {done.stderr}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(TASKS.search(done.stdout).group(1))


def bytes_below(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def measure(options, compiler, program):
    words = program.split()
    command = [str(options.workloads / f"openmp-{compiler}" / words[0]), *words[1:]]
    ways = ["bare", "kizami"] + (["eztrace"] if options.eztrace and compiler == "clang" else [])
    seconds, left, tasks = {way: [] for way in ways}, {}, 0
    for _ in range(options.runs):
        for way in ways:
            with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
                variables, before = {}, []
                if way == "kizami":
                    variables = {"LD_PRELOAD": options.library, "KIZAMI_RAW": folder}
                    variables["KIZAMI_TRACER_OPENMP"] = options.openmp
                elif way == "eztrace":
                    before, variables = under_eztrace(options.eztrace, folder)
                took, tasks = run(before + command, variables, folder)
                seconds[way].append(took)
                left[way] = bytes_below(folder)
    bare = seconds["bare"]
    print(f"{compiler:6} {program:14} {tasks:>9} tasks, bare {min(bare) / tasks * 1e9:5.0f} ns each", end="")
    for way in ways[1:]:
        added = statistics.median(with_it - without for with_it, without in zip(seconds[way], bare)) / tasks * 1e9
        least = (min(seconds[way]) - min(bare)) / tasks * 1e9
        print(f"; {way} +{added:.0f} (least +{least:.0f}) ns, {left[way] / tasks:.1f} B", end="")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--workloads", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--program", action="append", help=f"with its arguments (default: {', '.join(PROGRAMS)})")
    parser.add_argument("--compiler", action="append", choices=("gcc", "clang"))
    parser.add_argument("--openmp", default="tasks", help="what is recorded, as kizami record --openmp has it")
    parser.add_argument("--eztrace", type=lambda p: Path(p).resolve(), help="the command eztrace, to compare with")
    parser.add_argument("--scratch", help="where raw segments go (default: the system's temporary directory)")
    options = parser.parse_args()
    for compiler in options.compiler or ("gcc", "clang"):
        for program in options.program or PROGRAMS:
            measure(options, compiler, program)


if __name__ == "__main__":
    main()
