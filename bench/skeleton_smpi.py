#!/usr/bin/env python3
"""How far runs of skeletons are off, where SimGrid's simulator knows the truth.

    bench/skeleton_smpi.py --kizami PATH [--programs plate,...] [--like 16] [--ranks 64,256] [--json FILE]

Builds programs of workloads with smpicc and their skeletons with Open MPI's compiler, measures a simulated network with
`kizami bench` at 2, 16, 32 and 64 ranks, records each program there at --like ranks and at each of --ranks, and tells for each:

  rows      of how many ranks the skeleton makes call by call what was recorded (`kizami skeleton check`)
  replay    the run of the skeleton, like the small run, against the recording, both replayed with the measured network
  time      the same against the time the simulated run took

Work is sleep: in the programs of workloads/truth as much whatever the number of ranks, in those of workloads/rows.c a piece in
each round of loops that follow it. Simulated time is exact, so one run of each is enough; 1,024 ranks take the simulator
minutes. Ends with 1 if rows differ, if replays differ by more than 2 %, or times by more than 5 %.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from predict import ROOT, Simulator, run

WORKLOADS = ROOT / "workloads"
# By name: the source, and its arguments.
PROGRAMS = {
    "plate": ("rows.c", ["plate", "4096", "10"]),
    "triangle": ("rows.c", ["triangle", "4096", "10"]),
    "transpose": ("rows.c", ["transpose", "2048", "10"]),
    "healthy_halo": ("truth/healthy_halo.c", ["sick", "40", "5000", "1000"]),
    "healthy_transpose": ("truth/healthy_transpose.c", ["sick", "30", "9000", "50"]),
}
MOST_OFF = {"replay": 2.0, "time": 5.0}
NETWORK = "fast"


class Skeleton:
    """A program on a simulated machine, and its skeleton."""

    def __init__(self, simulator, name):
        self.simulator, self.kizami, self.folder, self.name = simulator, simulator.kizami, simulator.folder, name
        self.program, self.skeleton = self.folder / name, self.folder / f"{name}.skel"
        source, self.arguments = WORKLOADS / PROGRAMS[name][0], PROGRAMS[name][1]
        headers = ["-I", WORKLOADS, "-I", WORKLOADS / "truth"]
        run(["smpicc", "-O2", "-g", "-w", *headers, source, "-o", self.program, "-lm"])
        # What a program sends does not depend on whose headers it is compiled with.
        run([self.kizami, "skeleton", "build", "-o", self.skeleton, "--", "mpicc.openmpi", "-O2", "-g", "-w", *headers,
             source, "-o", self.folder / "ordinary", "-lm"])

    def record(self, ranks):
        path = self.folder / f"{self.name}.{ranks}.kz"
        run([self.kizami, "record", "-o", path, "--", *self.simulator.launcher(ranks, NETWORK), self.program,
             *self.arguments])
        return path

    def check(self, recorded):
        # It ends with 1 where ranks differ.
        done = subprocess.run([self.kizami, "skeleton", "check", self.skeleton, recorded, "--json"], capture_output=True)
        told = json.loads(done.stdout)
        return told["identical"], told["ranks"], told["differences"][:1]

    def run_like(self, recorded, ranks):
        path = self.folder / f"{self.name}.pseudo.{ranks}.kz"
        run([self.kizami, "skeleton", "run", self.skeleton, "--like", recorded, "--ranks", ranks, "--noise", "none", "-o",
             path, "--", *self.arguments])
        return path

    def replayed(self, trace, machine):
        told = json.loads(run([self.kizami, "replay", trace, "--machine", machine, "--json"]))
        return told["recorded_work_ns"] / 1e6, told["replayed_work_ns"] / 1e6


def judge(machine, skeleton, options, tell):
    small = skeleton.record(options.like)
    for ranks in options.ranks:
        recorded = skeleton.record(ranks)
        identical, of, difference = skeleton.check(recorded)
        tell(skeleton.name, ranks, "rows", of, identical, identical == of, difference)
        truth, again = skeleton.replayed(recorded, machine)
        _, told = skeleton.replayed(skeleton.run_like(small, ranks), machine)
        for kind, against in [("replay", again), ("time", truth)]:
            off = 100 * (told / against - 1)
            tell(skeleton.name, ranks, kind, against, told, abs(off) <= MOST_OFF[kind], f"{off:+.2f} %")


def numbers(text):
    return [int(ranks) for ranks in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=Path)
    parser.add_argument("--programs", default=list(PROGRAMS), type=lambda text: text.split(","))
    parser.add_argument("--like", default=16, type=int)
    parser.add_argument("--ranks", default=[64, 256], type=numbers)
    parser.add_argument("--selector", default="ompi")
    parser.add_argument("--seconds", default=120, type=float, help="for measuring the network")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []

    def tell(name, ranks, kind, truth, told, good, note):
        rows.append({"program": name, "ranks": ranks, "kind": kind, "truth": truth, "told": told, "good": good})
        unit = "ranks" if kind == "rows" else "ms"
        print(f"{name:18} {ranks:5} ranks  {kind:6} true {truth:12.6g} {unit:5} told {told:12.6g} {unit:5} {note or ''}"
              f"{'' if good else '  NOT GOOD'}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(Path(folder), options.kizami.resolve(), options.selector)
        machine = simulator.machine(NETWORK, options.seconds)
        for name in options.programs:
            judge(machine, Skeleton(simulator, name), options, tell)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["good"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
