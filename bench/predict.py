#!/usr/bin/env python3
"""How far predictions are off, where SimGrid's simulator knows the truth.

    bench/predict.py --kizami PATH [--shapes matmul,cg,...] [--noise 0.3] [--more 256] [--selector ompi] [--json FILE]

Builds workloads/scaling.c with smpicc, measures two simulated networks with `kizami bench` at 2, 16, 32 and 64 ranks, records
each shape at 16, 32 and 64 ranks on the first, and asks `kizami predict`:

  same      the recorded run on the network it ran on, by what was measured there
  sum       the same by the plain sum, without waits
  other     the recorded run on the second network, against a run recorded there
  check     64 ranks from 16 and 32
  more      --more ranks from 16, 32 and 64, against a run recorded with as many
  hidden    128 ranks from 4, 8 and 16 without a machine, for shapes of workloads/overlapped.c: no run shows what messages take

Simulated time is exact, so one run of each is enough. Prints a line for each, and the largest error of each kind.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHAPES = ["matmul", "cg", "sort", "stencil", "butterfly", "line"]
NETWORKS = {"fast": ("1.25GBps", "1us"), "slow": ("125MBps", "25us")}
OVERLAPPED = ["sum4", "alone", "after", "isum", "ibcast", "persistent", "levels", "ring"]
RANKS = [16, 32, 64]
FEW_RANKS, MORE_RANKS = [4, 8, 16], 128
HOSTS = 1024
PATIENCE_S = 900


def run(words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE_S, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(str(word) for word in words)}: {done.stderr.strip()[-400:]}")
    return done.stdout


class Simulator:
    def __init__(self, folder, kizami, selector):
        self.folder, self.kizami, self.selector = folder, kizami, selector
        for name in ["scaling", "overlapped"]:
            run(["smpicc", "-O2", "-I", ROOT / "workloads", ROOT / f"workloads/{name}.c", "-o", folder / name, "-lm"])
        (folder / "hosts").write_text("".join(f"n-{host}\n" for host in range(HOSTS)))
        for name, (bandwidth, latency) in NETWORKS.items():
            cluster = (f'<cluster id="c" prefix="n-" radical="0-{HOSTS - 1}" suffix="" speed="1Gf" '
                       f'bw="{bandwidth}" lat="{latency}"/>')
            (folder / f"{name}.xml").write_text(
                '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                f'<platform version="4.1">{cluster}</platform>\n')

    def launcher(self, ranks, network):
        return ["smpirun", "-np", str(ranks), "-platform", self.folder / f"{network}.xml", "-hostfile",
                self.folder / "hosts", f"--cfg=smpi/coll-selector:{self.selector}",
                "--cfg=smpi/simulate-computation:no", "--log=root.thres:error"]

    def machine(self, network, seconds):
        path = self.folder / f"{network}.kzm"
        run([self.kizami, "bench", "-o", path, "--name", f"smpi-{network}-{self.selector}", "--ranks",
             ",".join(str(ranks) for ranks in [2, *RANKS]), "--seconds", seconds, "--largest", "1M", "--",
             *self.launcher("{P}", network)])
        return path

    def record(self, shape, ranks, network, noise):
        path = self.folder / f"{shape}.{network}.{ranks}.kz"
        name = "overlapped" if shape in OVERLAPPED else "scaling"
        if not path.exists():
            run([self.kizami, "record", "-o", path, "--", *self.launcher(ranks, network), self.folder / name, shape, "0",
                 "20", str(noise)])
        return path

    def predict(self, *words):
        return json.loads(run([self.kizami, "predict", *words, "--json"]))


def recorded_s(kizami, trace):
    return json.loads(run([kizami, "replay", trace, "--json"]))["recorded_work_ns"] / 1e9


def judge(simulator, shape, machines, options, tell):
    runs = [simulator.record(shape, ranks, "fast", options.noise) for ranks in RANKS]
    for ranks, trace in zip(RANKS, runs):
        truth = recorded_s(simulator.kizami, trace)
        point = simulator.predict(trace, "--machine", machines["fast"])["points"][0]
        tell(shape, "same", ranks, truth, point["time_s"], point)
        text = run([simulator.kizami, "predict", trace, "--machine", machines["fast"], "--method", "sum"])
        tell(shape, "sum", ranks, truth, seconds(text.split(": ")[1].split(" by")[0]), None)
        there = simulator.record(shape, ranks, "slow", options.noise)
        point = simulator.predict(trace, "--machine", machines["slow"])["points"][0]
        tell(shape, "other", ranks, recorded_s(simulator.kizami, there), point["time_s"], point)
    checked = simulator.predict("--check", *runs, "--machine", machines["fast"])
    tell(shape, "check", RANKS[-1], checked["recorded_s"], checked["foretold"]["time_s"], checked["foretold"])
    for ranks in options.more:
        truth = recorded_s(simulator.kizami, simulator.record(shape, ranks, "fast", options.noise))
        point = simulator.predict(*runs, "--machine", machines["fast"], "--ranks", str(ranks))["points"][0]
        tell(shape, "more", ranks, truth, point["time_s"], point)


def judge_overlapped(simulator, shape, tell):
    runs = [simulator.record(shape, ranks, "fast", 0) for ranks in FEW_RANKS]
    truth = recorded_s(simulator.kizami, simulator.record(shape, MORE_RANKS, "fast", 0))
    point = simulator.predict(*runs, "--ranks", str(MORE_RANKS))["points"][0]
    tell(shape, "hidden", MORE_RANKS, truth, point["time_s"], point)


def seconds(text):
    number, unit = text.split()
    return float(number.replace(",", "")) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=Path)
    parser.add_argument("--shapes", default=",".join(SHAPES + OVERLAPPED), type=lambda text: text.split(","))
    parser.add_argument("--noise", default=0.3, type=float)
    parser.add_argument("--more", default=[256], type=lambda text: [int(ranks) for ranks in text.split(",") if ranks])
    parser.add_argument("--selector", default="ompi")
    parser.add_argument("--seconds", default=240, type=float, help="for measuring one network")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []

    def tell(shape, kind, ranks, truth, told, point):
        error = 100 * (told / truth - 1)
        holds = point is None or point["low_s"] <= truth <= point["high_s"]
        rows.append({"shape": shape, "kind": kind, "ranks": ranks, "truth_s": truth, "told_s": told,
                     "error_percent": error, "holds": holds})
        print(f"{shape:10} {kind:6} {ranks:5} ranks  true {truth * 1e3:10.3f} ms  told {told * 1e3:10.3f} ms  "
              f"{error:+7.2f} %{'' if holds else '  outside its interval'}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(Path(folder), options.kizami.resolve(), options.selector)
        measured = any(shape in SHAPES for shape in options.shapes)
        machines = {network: simulator.machine(network, options.seconds) for network in NETWORKS if measured}
        for shape in options.shapes:
            try:
                if shape in OVERLAPPED:
                    judge_overlapped(simulator, shape, tell)
                else:
                    judge(simulator, shape, machines, options, tell)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{shape}: {error}", file=sys.stderr, flush=True)
    for kind in ["same", "sum", "other", "check", "more", "hidden"]:
        errors = sorted(abs(row["error_percent"]) for row in rows if row["kind"] == kind)
        if errors:
            print(f"{kind:6} {len(errors):3} cases  median {errors[len(errors) // 2]:6.2f} %  worst {errors[-1]:6.2f} %")
    within = [row for row in rows if row["kind"] in ("check", "more", "hidden")]
    print(f"intervals hold {sum(row['holds'] for row in within)} of {len(within)}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
