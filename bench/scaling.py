#!/usr/bin/env python3
"""How far processes that share a walk scale: their rounds as recorded on this machine, on a cluster that SimGrid simulates.

    cargo build --release -p kizami-replay --example walk_rounds
    bench/scaling.py --walk-rounds target/release/examples/walk_rounds [--kizami target/release/kizami]

Strong: one run, more and more processes. Weak: a run with as many more ranks. Efficiency is what one process alone takes, divided by
what so many take together. With --kizami the largest simulated walk is recorded as well, and its report says what limits it.
"""

import argparse
import pathlib
import subprocess
import tempfile

STRONG = [(1024, 100, processes) for processes in (2, 16, 64)]
WEAK = [(64 * processes, 100, processes) for processes in (2, 16, 64)] + [(256 * processes, 50, processes) for processes in (64, 256)]
CLUSTER = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n-" radical="0-255" suffix="" speed="1Gf" bw="12.5GBps" lat="1us"/>
</platform>
"""


def simulated(folder, processes):
    """The command that plays the rounds in the folder."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"n-{host}\n" for host in range(processes)))
    return ["smpirun", "-np", str(processes), "-platform", folder / "cluster.xml", "-hostfile", hosts,
            "--cfg=smpi/simulate-computation:no", "--cfg=smpi/coll-selector:mpich", "--cfg=smpi/host-speed:1Gf", "--log=root.thres:error",
            folder / "rounds", folder / "rounds.txt"]


def measure(walk_rounds, folder, ranks, iterations, processes):
    """Records the rounds of a walk, and simulates them."""
    with open(folder / "rounds.txt", "wb") as rounds:
        subprocess.run([walk_rounds, str(ranks), str(iterations), str(processes)], stdout=rounds, check=True)
    with open(folder / "rounds.txt") as rounds:
        _, count, alone_ns = map(int, rounds.readline().split())
        most_ns = sum_ns = sent = 0
        for _ in range(count):
            each = list(map(int, rounds.readline().split()))
            most_ns, sum_ns = most_ns + max(each), sum_ns + sum(each)
            kind, *numbers = rounds.readline().split()
            numbers = list(map(int, numbers))
            sent += sum(numbers) * (processes - 1) if kind == "a" else sum(numbers[3::3])
    played = subprocess.run(simulated(folder, processes), stdout=subprocess.PIPE, text=True, check=True)
    together = float(played.stdout.split()[-1])
    print(f"| {ranks:,} | {processes} | {count} | {sent / 1e6:.1f} MB | {alone_ns / 1e9:.2f} s | "
          f"{sum_ns / processes / 1e9:.4f} s | {most_ns / 1e9:.4f} s | {together:.4f} s | "
          f"{alone_ns / 1e9 / processes / together:.0%} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walk-rounds", required=True, type=pathlib.Path)
    parser.add_argument("--kizami", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "cluster.xml").write_text(CLUSTER)
        source = pathlib.Path(__file__).with_name("rounds.c")
        subprocess.run(["smpicc", "-O2", "-g", source, "-o", folder / "rounds"], check=True)
        for name, sizes in [("strong", STRONG), ("weak", WEAK)]:
            print(f"\n{name}\n\n| ranks | processes | meetings | letters | alone | each computes | the slowest before each | "
                  "simulated | efficiency |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
            for size in sizes:
                measure(arguments.walk_rounds, folder, *size)
        if arguments.kizami:
            trace = folder / "rounds.kz"
            subprocess.run([arguments.kizami, "record", "-o", trace, "--", *simulated(folder, WEAK[-1][2])], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([arguments.kizami, "report", trace], check=True)


if __name__ == "__main__":
    main()
