#!/usr/bin/env python3
"""How far predictions are off on real MPIs, beside Extra-P on the same runs.

    bench/predict_real.py --kizami PATH [--mpis openmpi,mpich] [--rounds 5] [--extrap PATH]

Needs two quiet cores, and the workloads as .ci/prepare builds them ($KIZAMI_TEST_DIR/workloads).

  same   matmul_shift, cg and radix_sort with 2 ranks, large and tiny: the recorded run on the machine that `kizami bench`
         measured, against how long it took. Rounds are interleaved, the median of each is told.
  more   shapes of workloads/scaling.c, whose work is a sleep, with 1, 2, 3, 4 and 6 ranks: 8 ranks foretold, against the
         median of runs with 8. Extra-P, if its command is given, gets the times of the same runs.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CACHE = Path(os.environ.get("KIZAMI_TEST_DIR", Path.home() / ".cache/kizami"))
SAME = {
    "large": {"matmul_shift": ["400"], "cg": ["4000000", "20"], "radix_sort": ["4000000"]},
    "tiny": {"matmul_shift": ["8"], "cg": ["1000", "100"], "radix_sort": ["100"]},
}
SHAPES = {"matmul": ["matmul", "256", "20"], "cg": ["cg", "64000", "20"], "line": ["line", "4000000", "20"]}
FROM, TO = [1, 2, 3, 4, 6], 8


def run(words, folder, check=True):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=600)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(str(word) for word in words)}: {done.stderr.strip()[-400:]}")
    return done.stdout


class Mpi:
    def __init__(self, name, kizami, folder):
        self.name, self.kizami, self.folder = name, kizami, folder / name
        self.folder.mkdir()

    def launch(self, ranks):
        if self.name == "openmpi":
            return ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-np", ranks]
        return ["mpiexec.hydra", "-n", ranks]

    def record(self, trace, ranks, program, arguments):
        run([self.kizami, "record", "-o", trace, "--", *self.launch(ranks), CACHE / "workloads" / self.name / program,
             *arguments], self.folder)
        return json.loads(run([self.kizami, "replay", trace, "--json"], self.folder))["recorded_work_ns"] / 1e9

    def told(self, *words):
        text = run([self.kizami, "predict", *words, "--json"], self.folder, check=False)
        return json.loads(text) if text.startswith("{") else None


def same(mpi, rounds):
    run([mpi.kizami, "bench", "-o", "here.kzm", "--ranks", "2", "--seconds", "60", "--largest", "64M", "--",
         *mpi.launch("{P}")], mpi.folder)
    errors = {}
    for turn in range(rounds):
        for size, programs in SAME.items():
            for program, arguments in programs.items():
                trace = f"{program}.{size}.{turn}.kz"
                took = mpi.record(trace, 2, program, arguments)
                point = mpi.told(trace, "--machine", "here.kzm")["points"][0]
                holds = point["low_s"] <= took <= point["high_s"]
                errors.setdefault((size, program), []).append((100 * (point["time_s"] / took - 1), took, holds))
    for (size, program), rows in errors.items():
        all_errors = [error for error, _, _ in rows]
        print(f"{mpi.name:8} same {size:6} {program:13} took {statistics.median(row[1] for row in rows) * 1e3:9.3f} ms  "
              f"median {statistics.median(all_errors):+7.2f} %  from {min(all_errors):+.2f} to {max(all_errors):+.2f}  "
              f"held {sum(row[2] for row in rows)} of {rounds}", flush=True)


def extra_p(command, folder, points):
    """What Extra-P foretells for TO from times of FROM."""
    lines = ["PARAMETER p", "POINTS " + " ".join(str(ranks) for ranks in FROM), "METRIC time", "REGION run"]
    lines += ["DATA " + " ".join(str(time) for time in points[ranks]) for ranks in FROM]
    (folder / "times.txt").write_text("\n".join(lines) + "\n")
    text = run([command, "--text", "times.txt", "--print", "functions-python"], folder, check=False)
    found = re.search(r"^.*p.*$|^[\d.e+-]+$", text.strip().splitlines()[-1]) if text.strip() else None
    if not found:
        return None
    formula = found.group(0).split(":")[-1].strip()
    names = {"p": float(TO), "log2": __import__("math").log2, "log": __import__("math").log}
    return eval(formula, {"__builtins__": {}}, names)  # noqa: S307: a formula that Extra-P wrote


def more(mpi, rounds, command):
    for shape, arguments in SHAPES.items():
        times, runs = {}, []
        for turn in range(rounds):
            for ranks in [*FROM, TO]:
                trace = f"{shape}.{ranks}.{turn}.kz"
                times.setdefault(ranks, []).append(mpi.record(trace, ranks, "scaling", arguments))
                if turn == 0 and ranks != TO:
                    runs.append(trace)
        truth = statistics.median(times[TO])
        told = mpi.told(*runs, "--ranks", str(TO))
        ours = told["points"][0] if told else None
        line = f"{mpi.name:8} more {shape:8} took {truth * 1e3:9.3f} ms"
        line += f"  told {100 * (ours['time_s'] / truth - 1):+7.2f} %" if ours else "  refused"
        if ours and not ours["low_s"] <= truth <= ours["high_s"]:
            line += " outside its interval"
        if command:
            theirs = extra_p(command, mpi.folder, times)
            line += f"  Extra-P {100 * (theirs / truth - 1):+7.2f} %" if theirs else "  Extra-P: no model"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=Path)
    parser.add_argument("--mpis", default=["openmpi", "mpich"], type=lambda text: text.split(","))
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--extrap", type=Path, help="the command of the package extrap")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.mpis:
            mpi = Mpi(name, options.kizami.resolve(), Path(folder))
            for part in (lambda: same(mpi, options.rounds), lambda: more(mpi, options.rounds, options.extrap)):
                try:
                    part()
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    print(f"{name}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
