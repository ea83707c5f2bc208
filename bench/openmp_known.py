#!/usr/bin/env python3
"""Is what Kizami says of OpenMP programs true? Work, span and parallelism of tasks, and the gain of the first finding.

Records `workloads/openmp/known.c`, whose modes have known work, span and losses, alone or beside processes that only spin.

    bench/openmp_known.py --kizami target/release/kizami --workloads DIR [--modes chain,tree,...] [--how nap,spin]
                          [--runs 3] [--spinners 0] [--threads 4] [--limit 0.15]

DIR is what `workloads/openmp/build.sh` filled. Prints the median of the runs and the true figure, each. Fails if one of them is
off by more than the limit: work, span and parallelism as a part of the true figure, gains in points of the run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Work and span in milliseconds; none of a program without tasks.
TASKS = {"chain": (400, 100), "tree": (381, 21), "wave": (432, 69), "loop": (256, 4), "tiny": (400, None)}


def gain_of(mode, threads):
    """The true gain of the finding that is to come first, by its name; of programs without tasks."""
    if mode == "static":
        pieces = [sum(range(64 * t // threads, 64 * (t + 1) // threads)) for t in range(threads)]
        return "thread-imbalance", 1 - sum(pieces) / threads / max(pieces)
    if mode == "serial":
        return "serial-part", 20 / 30 * (1 - 1 / threads)
    return None


def record(options, mode, how, folder):
    trace = pathlib.Path(folder) / "known.kz"
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), OMP_WAIT_POLICY="passive", OMP_DYNAMIC="false")
    command = [options.kizami, "record", "-o", trace, "--", options.workloads / "known", mode, how]
    subprocess.run(command, env=environment, check=True, capture_output=True)

    def told(*command):
        return json.loads(subprocess.run([options.kizami, *command, trace, "--json"], check=True, capture_output=True).stdout)

    tasks, report = told("tasks"), told("report")
    subprocess.run(["rm", "-rf", trace], check=True)
    return tasks, report


def median(values):
    return statistics.median(values)


def check(options, mode, how, folder):
    runs = [record(options, mode, how, folder) for _ in range(options.runs)]
    asleep = median([(tasks["asleep"] or 0) / max(1, tasks["work"]) for tasks, _ in runs])
    findings = [report["findings"][:1] for _, report in runs]
    first = "; ".join(sorted({finding[0]["disease"] if finding else "none" for finding in findings}))
    held, cells = True, []
    if mode in TASKS:
        work, span = TASKS[mode]
        told_work = median([tasks["work"] for tasks, _ in runs]) / 1e6
        told_span = median([tasks["span"] for tasks, _ in runs]) / 1e6
        figures = [("work", told_work, work, "ms")]
        if span is not None:
            parallelism = median([tasks["work"] / tasks["span"] for tasks, _ in runs])
            figures += [("span", told_span, span, "ms"), ("parallelism", parallelism, work / span, "")]
        for name, told, true, unit in figures:
            off = told / true - 1
            held = held and abs(off) <= options.limit
            cells.append(f"{name} {told:.1f} / {true:.1f} {unit} ({off:+.1%})")
        outside = [row for tasks, _ in runs for row in tasks["processors"]
                   if not row["at_least"] <= row["simulated"] <= row["at_most"]]
        held = held and not outside
    else:
        name, gain = gain_of(mode, options.threads)
        gains = [finding[0]["gain"]["share"] for finding in findings if finding and finding[0]["disease"] == name]
        told = median(gains) if gains else 0.0
        held = len(gains) == len(runs) and abs(told - gain) <= options.limit
        cells.append(f"gain {told:.1%} / {gain:.1%}")
    print(f"{mode:7} {how:5}", *cells, f"asleep {asleep:.0%}", f"first finding: {first}", sep="  ", flush=True)
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=pathlib.Path, required=True)
    parser.add_argument("--workloads", type=pathlib.Path, required=True)
    parser.add_argument("--modes", default="chain,tree,wave,loop,tiny,static,serial")
    parser.add_argument("--how", default="nap,spin")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--spinners", type=int, default=0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--limit", type=float, default=0.15)
    options = parser.parse_args()
    for field in ("kizami", "workloads"):
        setattr(options, field, getattr(options, field).resolve())
    print(f"{options.threads} threads, {options.runs} runs of each beside {options.spinners} spinning processes; told / true")
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.spinners)]
    held = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for mode in options.modes.split(","):
                # 20 us cannot be slept on most machines.
                ways = [how for how in options.how.split(",") if not (mode == "tiny" and how == "nap")]
                held += [check(options, mode, how, folder) for how in ways]
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
