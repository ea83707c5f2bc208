#!/usr/bin/env python3
"""Attacks the recorder: programs, users and accidents that a recording must live through.

    bench/attack/recording.py --kizami PATH [--small|--gate] [--only NAME] [--mpi NAME] [--seed N] [--case N]

Needs both MPIs (mpirun.openmpi, mpirun.mpich and their mpicc.*) and gcc. Programs are compiled from the sources beside
this file. Each program counts its own MPI calls in a mapped file, after each call: that count is the truth. What Kizami
tells (kizami info --json) is held against it.

    wrappers     libraries between program and MPI, also those that load it: results, their own counts and Kizami's count
                 are as without Kizami
    seals        several at once, of a live run, killed: no call is lost, and who is refused is told why
    descriptors  programs that close or reuse descriptors: no foreign byte in their files, and lost calls are told
    limits       few open files, small files, little memory, full disks: recorded + lost = the program's own count
    cancel       threads cancelled in and between calls: no lock stays with them, and recorded + lost = their own count
    stacks       smallest stacks, fibres, signal stacks, sanitizers: output and exit code as without Kizami
    runtimes     several OpenMP runtimes in a process, and tools for them: results as without Kizami
    kills        of a rank, all ranks, the recorder, the launcher: no completed call is lost

One line is printed for what was tried: cases, how many held, and how many said nothing because the program fails without
Kizami, too. Below it stands each case that failed, with the command that repeats it; its folder is kept. Cases are drawn
from --seed and their number, so that one can be repeated alone. The exit code is 1 if any failed."""
import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from cancel import cancel
from descriptors import descriptors
from kills import kills
from limits import limits
from recording_bench import Bench, Failed, Skipped, adopt_orphans, end_all
from runtimes import runtimes
from seals import seals
from stacks import stacks
from wrappers import wrappers

ATTACKS = {"wrappers": wrappers, "seals": seals, "descriptors": descriptors, "limits": limits, "cancel": cancel,
           "stacks": stacks, "runtimes": runtimes, "kills": kills}
# Of the cases of --small, the gate takes one of so many: each thing that is tried has its turn, and so has each MPI.
ONE_OF = {"wrappers": 9, "seals": 8, "descriptors": 5, "limits": 3, "cancel": 3, "stacks": 5, "runtimes": 17, "kills": 5}
# How long an attack may say nothing.
SILENCE_S = 60


class Line:
    """What came of one thing that was tried."""

    def __init__(self):
        self.cases, self.held, self.skipped, self.failures = 0, 0, [], []


def attack(bench, name, only_case):
    """Runs the cases of one attack and prints a line for each thing tried; gives the number of failures."""
    lines, numbers = {}, iter(range(1 << 30))

    def draw():
        # By the number of the case, so that one alone draws what it drew among all.
        return random.Random(f"{bench.seed}/{name}/{next(numbers)}")

    started = told = time.monotonic()
    for case, (tried, words, check) in enumerate(ATTACKS[name](bench, draw)):
        if only_case is not None and case != only_case or bench.gate and case % ONE_OF[name]:
            continue
        if time.monotonic() - told > SILENCE_S:
            told = time.monotonic()
            print(f"{name}: {case} cases, {told - started:.0f} s", file=sys.stderr, flush=True)
        line = lines.setdefault(tried, Line())
        line.cases += 1
        folder = bench.case_folder()
        try:
            check(folder)
            line.held += 1
        except Skipped as reason:
            line.skipped.append(f"{words}: {reason}")
        except Failed as failure:
            line.failures.append((case, words, failure, folder))
            print(f"{name}: case {case} failed: {failure}", file=sys.stderr, flush=True)
        finally:
            end_all()
        if not line.failures or line.failures[-1][0] != case:
            shutil.rmtree(folder, ignore_errors=True)
    for tried, line in lines.items():
        skipped = f", {len(line.skipped)} say nothing" if line.skipped else ""
        print(f"{name}: {tried}: {line.cases} cases, {line.held} held, {len(line.failures)} failed{skipped}")
        for case, words, failure, folder in line.failures:
            small = " --small" * bench.small
            small += " --results-only" * bench.results_only
            mpis = "" if len(bench.mpis) == 2 else f" --mpi {bench.mpis[0]}"
            print(f"    FAILED {words}: {failure}\n        repeat: {sys.argv[0]} --kizami {bench.kizami}{small}{mpis} "
                  f"--only {name} --seed {bench.seed} --case {case}\n        folder: {folder}")
        for words in line.skipped:
            print(f"    says nothing: {words[:160]}")
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    return sum(len(line.failures) for line in lines.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=Path, required=True, help="the product; libkizami.so lies beside it")
    parser.add_argument("--small", action="store_true", help="few cases of each attack: some minutes")
    parser.add_argument("--gate", action="store_true", help="some cases of --small: a minute or two")
    parser.add_argument("--only", choices=ATTACKS, action="append")
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only this case of the attack that --only names")
    parser.add_argument("--results-only", action="store_true",
                        help="runtimes: do not look at what is told of regions that are not recorded")
    options = parser.parse_args()
    options.kizami = options.kizami.resolve()
    adopt_orphans()
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    failed = 0
    try:
        bench = Bench(options, folder)
        for name in options.only or ATTACKS:
            failed += attack(bench, name, options.case)
    finally:
        end_all()
        if not failed:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{failed} cases failed" if failed else "all held")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
