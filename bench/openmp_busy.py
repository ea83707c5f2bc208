#!/usr/bin/env python3
"""Is the parallelism that `kizami tasks` tells that of the program, or of the machine it ran on?

Records task programs alone and beside processes that only spin, in turn, and compares work, span and parallelism.

    bench/openmp_busy.py --kizami target/release/kizami --workloads DIR [--programs cholesky,nqueens,fib]
                         [--runs 5] [--spinners 8] [--threads 4] [--limit 0.10]

DIR is what `workloads/openmp/build.sh` filled. Fails if the median parallelism of a program differs by more than the limit.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Programs of some tenths of a second, whose tasks are long enough to be taken off a processor.
ARGUMENTS = {"cholesky": ["10", "96"], "nqueens": ["13", "3"], "fib": ["40", "8"]}


def spin(count):
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def measure(options, program, folder):
    """Work and span of one recorded run, in seconds, and how long it took."""
    trace = pathlib.Path(folder) / f"{program}.kz"
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), OMP_WAIT_POLICY="passive")
    record = [options.kizami, "record", "-o", trace, "--", options.workloads / program, *ARGUMENTS[program]]
    subprocess.run(record, env=environment, check=True, capture_output=True)
    told = subprocess.run([options.kizami, "tasks", trace, "--json"], check=True, capture_output=True)
    subprocess.run(["rm", "-rf", trace], check=True)
    told = json.loads(told.stdout)
    return told["work"] / 1e9, told["span"] / 1e9


def compare(options, program, folder):
    alone, beside = [], []
    for _ in range(options.runs):
        alone.append(measure(options, program, folder))
        spinning = spin(options.spinners)
        try:
            beside.append(measure(options, program, folder))
        finally:
            for process in spinning:
                process.kill()
                process.wait()

    def median(runs, of):
        return statistics.median(of(run) for run in runs)

    def parallelism(run):
        return run[0] / run[1]

    difference = median(beside, parallelism) / median(alone, parallelism) - 1
    cells = [f"{program:10}"]
    for runs in (alone, beside):
        cells.append(f"{median(runs, lambda run: run[0]) * 1e3:8.1f} ms {median(runs, lambda run: run[1]) * 1e3:8.2f} ms"
                     f" {median(runs, parallelism):8.2f}")
    print(*cells, f"{difference:+7.1%}", sep="  ", flush=True)
    return abs(difference) <= options.limit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=pathlib.Path, required=True)
    parser.add_argument("--workloads", type=pathlib.Path, required=True)
    parser.add_argument("--programs", default="cholesky,nqueens,fib")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--spinners", type=int, default=8)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--limit", type=float, default=0.10)
    options = parser.parse_args()
    for field in ("kizami", "workloads"):
        setattr(options, field, getattr(options, field).resolve())
    print(f"{options.runs} runs of each, alone and beside {options.spinners} spinning processes; medians")
    print(f"{'':10}  {'alone: work, span, parallelism':>32}  {'beside: work, span, parallelism':>32}  {'difference':>7}")
    with tempfile.TemporaryDirectory() as folder:
        held = [compare(options, program, folder) for program in options.programs.split(",")]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
