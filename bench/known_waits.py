#!/usr/bin/env python3
"""How far `kizami report` is from waits that are known.

    bench/known_waits.py --kizami target/release/kizami --workloads DIR [--runs 5] [--delay 20] [--iterations 20]
                         [--mpi openmpi --mpi mpich] [--ranks 4]

DIR is what workloads/build-both.sh made. Each pattern of known_waits is recorded and explained; its total waiting time
is compared with the injected one. Prints the median deviation over the runs, and the least and the largest, in percent.
MPICH's ranks never give up their core while they wait: give it no more ranks than there are cores.
"""
import argparse
import json
import statistics
import tempfile
from pathlib import Path

from launch import launcher, run

# Name, kind of waiting, how the names of the functions begin in which ranks wait, and how many of so many ranks wait.
PATTERNS = [
    ("late_sender", "late-sender", "MPI_Recv", lambda ranks: ranks - 1),
    ("late_receiver", "late-receiver", "MPI_Send", lambda ranks: ranks // 2),
    ("wrong_order", "late-sender-wrong-order", "MPI_Recv", lambda ranks: ranks // 2),
    ("early_reduce", "early-reduce", "MPI_Reduce", lambda ranks: 1),
    ("late_broadcast", "late-broadcast", "MPI_Bcast", lambda ranks: ranks - 1),
    ("early_scan", "early-scan", "MPI_Scan", lambda ranks: ranks - 1),
    ("late_post", "late-post", "MPI_", lambda ranks: ranks - 1),
    ("early_wait", "early-wait", "MPI_Win_wait", lambda ranks: 1),
    ("late_complete", "late-complete", "MPI_Win_wait", lambda ranks: 1),
    ("lock_contention", "lock-contention", "MPI_Win_lock", lambda ranks: ranks - 1),
    ("imbalanced_barrier", "wait-at-barrier", "MPI_Barrier", lambda ranks: ranks - 1),
    ("imbalanced_allreduce", "wait-at-nx-n", "MPI_Allreduce", lambda ranks: ranks - 1),
    ("slow_rank", "wait-at-nx-n", "MPI_Allreduce", lambda ranks: ranks - 1),
]


def deviation(options, mpi, pattern):
    """Of one run, in percent."""
    name, kind, function, waiting = pattern
    with tempfile.TemporaryDirectory() as scratch:
        trace = Path(scratch) / "run.kz"
        program = Path(options.workloads) / mpi / "known_waits"
        arguments = [name, options.delay, options.iterations]
        run(options.kizami, "record", "-o", trace, "--", *launcher(mpi, options.ranks), program, *arguments)
        report = json.loads(run(options.kizami, "report", trace, "--json"))
    waits = [
        wait["ns"]
        for wait in report["waits_by_place"]
        # What brings ranks together between iterations is no part of the pattern.
        if wait["pattern"] == kind and wait["at"][0].startswith(function) and wait["at"][1]["function"] != "start_together"
    ]
    injected = waiting(options.ranks) * options.delay * options.iterations * 1e6
    return 100 * (sum(waits) / injected - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True)
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--delay", type=int, default=20, help="milliseconds")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--mpi", action="append", help="openmpi or mpich; both unless said")
    options = parser.parse_args()
    for mpi in options.mpi or ["openmpi", "mpich"]:
        for pattern in PATTERNS:
            found = [deviation(options, mpi, pattern) for _ in range(options.runs)]
            middle = statistics.median(found)
            print(f"{mpi:8} {pattern[0]:21} {middle:+6.2f} % ({min(found):+.2f} .. {max(found):+.2f})", flush=True)


if __name__ == "__main__":
    main()
