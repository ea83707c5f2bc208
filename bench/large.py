#!/usr/bin/env python3
"""How the time and the memory of an analysis grow with events, ranks, threads and a limit of memory.

    bench/large.py --kizami target/release/kizami --wide-trace target/release/examples/wide_trace
                   [--runs 3] [--folder DIR] [--case RANKS:ROUNDS:THREADS:MEMORY ...] [--command report] [--json large.json]

Each case is the trace of a made-up halo exchange (`cargo build --release -p kizami-view --examples`) of so many ranks, with
ten calls of each in a round, and one analysis of it: with so many threads, within so much memory (`-` leaves --memory out).
Cases are run in turn, so that noise of the machine hits all alike; figures are medians over runs. *In memory* is what no
file is behind, at its highest; *held* is all that the process held, pages of files with it, which the kernel takes back
whenever somebody needs them. What the command prints must be the same for all cases of one trace.
"""
import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = ["1024:98:1:-", "1024:977:1:-", "1024:977:2:-", "1024:977:1:256M", "131072:2:1:-"]
LOOK_EACH_S = 0.01


def resident_mb(process):
    """What the process holds, and the part of it that no file is behind."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    told = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith("Rss")}
    return sum(told.values()), told.get("RssAnon", 0)


def measure(command):
    """Runs a command; gives what it printed and its figures."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        held = anonymous = 0
        while process.poll() is None:
            now = resident_mb(process)
            held, anonymous = max(held, now[0]), max(anonymous, now[1])
            time.sleep(LOOK_EACH_S)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}")
        output.seek(0)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return output.read(), {"wall_s": wall, "cpu_s": cpu, "in_memory_mb": anonymous, "held_mb": held}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True)
    parser.add_argument("--wide-trace", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", help="where traces are made; a disk with room")
    parser.add_argument("--case", action="append")
    parser.add_argument("--command", default="report")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    cases = [case.split(":") for case in arguments.case or CASES]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        figures, printed = {tuple(case): [] for case in cases}, {}
        for ranks, rounds in sorted({tuple(case[:2]) for case in cases}):
            trace = Path(folder) / f"{ranks}-{rounds}.kz"
            subprocess.run([arguments.wide_trace, ranks, rounds, str(trace)], check=True, stderr=subprocess.DEVNULL)
        for _ in range(arguments.runs):
            for ranks, rounds, threads, memory in cases:
                trace = Path(folder) / f"{ranks}-{rounds}.kz"
                shutil.rmtree(trace / "derived", ignore_errors=True)
                command = [arguments.kizami, arguments.command, str(trace), "--threads", threads]
                command += [] if memory == "-" else ["--memory", memory]
                output, figure = measure(command)
                if printed.setdefault((ranks, rounds), output) != output:
                    sys.exit(f"{' '.join(command)} printed something else than before")
                figures[ranks, rounds, threads, memory].append(figure)
        tell(arguments, folder, figures)


def tell(arguments, folder, figures):
    print(f"{'ranks':>8} {'events':>12} {'threads':>7} {'limit':>6} {'CPU s':>7} {'wall s':>7} {'ns/event':>8} "
          f"{'in memory':>10} {'held':>9}")
    rows = []
    for (ranks, rounds, threads, memory), runs in figures.items():
        events = json.loads((Path(folder) / f"{ranks}-{rounds}.kz" / "run.json").read_text())["totals"]["events"]
        middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        rows.append({"ranks": int(ranks), "events": events, "threads": int(threads), "limit": memory, **middle})
        print(f"{int(ranks):8} {events:12,} {threads:>7} {memory:>6} {middle['cpu_s']:7.1f} {middle['wall_s']:7.1f} "
              f"{middle['cpu_s'] / events * 1e9:8.0f} {middle['in_memory_mb']:7.0f} MB {middle['held_mb']:6.0f} MB")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
