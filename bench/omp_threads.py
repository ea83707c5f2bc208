#!/usr/bin/env python3
"""Whether what other threads would gain is what they gain: predicted against real runs of programs that nap.

    bench/omp_threads.py --workloads DIR [--kizami PATH] [--program hybrid|mixture] [--mpi openmpi] [--runs 5]

Records a program with 2, 4 and 8 threads a rank, and hybrid also with shares of its loop that are even, RUNS times in turn.
Each of these runs is real: naps really go on at once, however few cores there are. From every run with uneven shares it asks
`kizami replay` how long each of the others takes, and compares with the median of those, both from MPI_Init to MPI_Finalize.
Prints a Markdown table of the medians: predicted, really, and their difference in percent of the real one.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

THREADS = (2, 4, 8)
LAUNCH = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                "--mca", "mpi_yield_when_idle", "1", "-n", "2"],
    "mpich": ["mpirun.mpich", "-n", "2"],
}
ARGUMENTS = {
    ("hybrid", "as it is"): ["30", "3000", "uneven", "48"],
    ("hybrid", "even"): ["30", "3000", "even", "48"],
    ("mixture", "as it is"): ["20", "2000"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=Path, required=True)
    parser.add_argument("--kizami", default="kizami")
    parser.add_argument("--program", choices=["hybrid", "mixture"], default="hybrid")
    parser.add_argument("--mpi", choices=list(LAUNCH), default="openmpi")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    shapes = [shape for program, shape in ARGUMENTS if program == arguments.program]
    real_ms, told_ms = {}, {}
    room = Path(tempfile.mkdtemp())
    try:
        for run in range(arguments.runs):
            for threads in THREADS:
                for shape in shapes:
                    trace = room / f"{run}-{threads}-{shape.replace(' ', '-')}.kz"
                    record(arguments, trace, threads, shape)
                    report = asked(arguments, "report", trace)
                    real_ms.setdefault((threads, shape), []).append(report["run_ns"] / 1e6)
                    if shape != "as it is":
                        continue
                    for case, options in cases(threads, shapes, report):
                        work_ns = asked(arguments, "replay", trace, *options)["replayed_work_ns"]
                        told_ms.setdefault((threads, case), []).append(work_ns / 1e6)
    finally:
        shutil.rmtree(room)
    print("| recorded with | foretold | predicted | really | error |\n|---|---|---|---|---|")
    for (threads, (others, shape)), predicted in told_ms.items():
        predicted, real = statistics.median(predicted), statistics.median(real_ms[others, shape])
        what = f"{others} threads" if shape == "as it is" else f"{others} threads, even shares"
        print(f"| {threads} threads | {what} | {predicted:.1f} ms | {real:.1f} ms | {100 * (predicted / real - 1):+.1f} % |")


def cases(threads, shapes, report):
    """What is foretold from a run: number of threads and shape, and the options that ask for it."""
    for others in THREADS:
        if others != threads:
            yield (others, "as it is"), ["--omp-threads", str(others)]
    if "even" in shapes:
        losses = report["threads"]["losses"]
        balance = next(loss["option"] for loss in losses if loss["kind"] == "imbalance").split()
        yield (threads, "even"), balance
        for others in THREADS:
            if others != threads:
                yield (others, "even"), [*balance, "--omp-threads", str(others)]


def record(arguments, trace, threads, shape):
    program = arguments.workloads / f"{arguments.program}.{arguments.mpi}"
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive",
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    line = [arguments.kizami, "record", "-o", trace, "--", *LAUNCH[arguments.mpi], program,
            *ARGUMENTS[arguments.program, shape]]
    subprocess.run(line, env=environment, check=True, capture_output=True)


def asked(arguments, command, trace, *options):
    line = [arguments.kizami, command, trace, *options, "--json"]
    return json.loads(subprocess.run(line, check=True, capture_output=True).stdout)


if __name__ == "__main__":
    main()
