#!/usr/bin/env python3
"""Two builds of kizami on the same work: sealing, report, replay and the viewer's index.

    bench/compare_builds.py BEFORE AFTER [--rounds 11] [--iterations 30000]

BEFORE and AFTER are folders with kizami and libkizami.so. A halo exchange on two ranks is recorded once with BEFORE; then
both builds do the same to copies of it, in turns, so that what else the machine does hits both. Prints the median of each,
their ratio, and the spread of BEFORE (half the distance of its quartiles) as what the machine does by itself.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

WORK = {
    "seal": ["seal", "raw.kz", "--keep-raw"],
    "report": ["report", "run.kz"],
    "replay": ["replay", "run.kz", "--network", "ideal"],
    "index": ["view", "run.kz", "--png", "out.png"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--iterations", type=int, default=30_000)
    parser.add_argument("--workloads", type=Path, default=Path.home() / ".cache/kizami/workloads/mpich")
    arguments = parser.parse_args()
    builds = {"before": arguments.before.resolve(), "after": arguments.after.resolve()}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        quiet = dict(cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        program = [str(arguments.workloads / "stencil2d"), "128", str(arguments.iterations)]
        kizami = str(builds["before"] / "kizami")
        subprocess.run([kizami, "record", "--no-seal", "-o", "raw.kz", "--", "mpirun.mpich", "-n", "2", *program], **quiet)
        shutil.copytree(folder / "raw.kz", folder / "run.kz")
        subprocess.run([kizami, "seal", "run.kz"], **quiet)
        times = {(name, build): [] for name in WORK for build in builds}
        for number in range(arguments.rounds):
            order = list(builds) if number % 2 else list(reversed(builds))
            for name, words in WORK.items():
                for build in order:
                    shutil.rmtree(folder / "run.kz/derived", ignore_errors=True)
                    (folder / "out.png").unlink(missing_ok=True)
                    begun = time.perf_counter()
                    subprocess.run([str(builds[build] / "kizami"), *words], **quiet)
                    times[name, build].append(time.perf_counter() - begun)
        print(f"{arguments.rounds} rounds, medians; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for name in WORK:
            before, after = (statistics.median(times[name, build]) for build in ("before", "after"))
            quartiles = statistics.quantiles(times[name, "before"], n=4)
            noise = (quartiles[2] - quartiles[0]) / 2 / before
            print(f"{name:8} {before:7.3f} s  {after:7.3f} s  {after / before - 1:+7.1%}  (spread {noise:.1%})")


if __name__ == "__main__":
    main()
