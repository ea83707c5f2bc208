#!/usr/bin/env python3
"""How well a table that `kizami bench` measured tells the costs of sizes it left out.

    bench/grid.py --kizami PATH [--operations MPI_Bcast,...] [--seconds 60] [--smpi RANKS]

Needs polars (the environment `tables` of .ci/prepare). At 2 ranks with each real MPI, or at RANKS simulated ones: measures
with `kizami bench`, then every power of two with the same measuring program, and tells how many of those are within 5 % of
straight lines between what the table has, which part of them the table has, and how many of that part come out the same
when they are measured again: no table can be nearer than that.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import polars

ROOT = Path(__file__).resolve().parent.parent
OPERATIONS = ["MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Alltoall", "MPI_Allgather", "MPI_Gather", "MPI_Scan"]
PARTS = {"MPI_Alltoall", "MPI_Allgather", "MPI_Gather"}
LARGEST = 22
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "-np", "{P}"], "mpich": ["mpiexec.hydra", "-n", "{P}"]}


def simulated(folder):
    """Words that launch simulated ranks."""
    (folder / "hosts").write_text("".join(f"n-{host}\n" for host in range(256)))
    (folder / "flat.xml").write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
        '<cluster id="c" prefix="n-" radical="0-255" suffix="" speed="1Gf" bw="1.25GBps" lat="1us"/></platform>\n')
    return ["smpirun", "-np", "{P}", "-platform", folder / "flat.xml", "-hostfile", folder / "hosts",
            "--cfg=smpi/coll-selector:ompi", "--cfg=smpi/simulate-computation:no", "--log=root.thres:error"]


def measured(words, questions):
    """The median of each question, by the measuring program."""
    lines = "".join(f"measure {operation} plain {size} 1000 0.2 0.005\n" for operation, size in questions) + "quit\n"
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=1800)
    rows = {}
    for line in done.stdout.splitlines():
        words = line.partition("kizami: ")[2].split()
        if words[:1] == ["row"]:
            count = int(words[5])
            spans = words[7:] if count > 200 else words[6:]
            rows[words[1], int(words[3])] = statistics.median(float(span) for span in spans)
    return rows


def between(points, size):
    """The cost on the line between two sizes."""
    if size in points:
        return points[size]
    low, high = max(s for s in points if s < size), min(s for s in points if s > size)
    return points[low] + (size - low) / (high - low) * (points[high] - points[low])


def compare(name, launcher, program, ranks, options, folder):
    table = folder / f"{name}.kzm"
    words = [str(word) for word in launcher]
    subprocess.run([options.kizami, "bench", "-o", table, "--ranks", str(ranks), "--seconds", str(options.seconds), "--",
                    *words], check=True, capture_output=True)
    rows = polars.read_parquet(table / "collectives*.parquet").filter(polars.col("pattern") == "plain")
    smallest = {op: 2 + (max(ranks - 1, 1).bit_length() if op in PARTS else 0) for op in options.operations}
    questions = [(op, 1 << power) for op in options.operations for power in range(smallest[op], LARGEST + 1)]
    truth = measured([word.replace("{P}", str(ranks)) for word in words] + [str(word) for word in program], questions)
    good = had = again = 0
    worst = (0.0, "")
    for op in options.operations:
        points = {bytes_: span for bytes_, span in rows.filter(polars.col("operation") == op).select("bytes", "span_ns").rows()}
        errors = {size: between(points, size) / truth[op, size] - 1 for o, size in questions if o == op}
        good += sum(abs(error) <= 0.05 for error in errors.values())
        had += sum(size in points for size in errors)
        again += sum(size in points and abs(error) <= 0.05 for size, error in errors.items())
        size = max(errors, key=lambda size: abs(errors[size]))
        worst = max(worst, (abs(errors[size]), f"{op} {size} B {100 * errors[size]:+.1f} %"))
        print(f"  {op:14} {sum(s in points for s in errors)} of {len(errors)} measured, outside 5 %: "
              + ", ".join(f"{s} B {100 * e:+.0f} %" for s, e in errors.items() if abs(e) > 0.05))
    print(f"{name}: {100 * good / len(questions):.1f} % of {len(questions)} sizes within 5 %, "
          f"{100 * had / len(questions):.0f} % of them measured, and of those {100 * again / had:.1f} % measured the same "
          f"again; worst {worst[1]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--operations", default=OPERATIONS, type=lambda text: text.split(","))
    parser.add_argument("--seconds", default=60, type=float)
    parser.add_argument("--smpi", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if options.smpi:
            program = folder / "measure"
            subprocess.run(["smpicc", "-O2", "-w", "-o", program, ROOT / "crates/cost/measure/smpi/measure.c", "-lm"], check=True)
            compare(f"smpi{options.smpi}", simulated(folder), [program], options.smpi, options, folder)
        else:
            for name, launcher in LAUNCHERS.items():
                compare(name, launcher, [options.kizami, "measuring-rank"], 2, options, folder)


if __name__ == "__main__":
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    main()
