#!/usr/bin/env python3
"""How far `kizami report` is from what senders waited for late receivers, by size of the message.

    bench/late_receiver.py --kizami target/release/kizami --workloads DIR [--runs 3] [--late 20] [--iterations 20]
                           [--mpi openmpi --mpi mpich] [--way shm --way tcp --way hosts] [--mode send] [--bytes 80 ...]

DIR is what workloads/build-both.sh made. workloads/late_receiver.c lets receivers be late by a known time, and measures
itself which sends waited for that and how long. Each size is recorded and explained by itself. Ways: shm is what the MPI
does within a host, tcp the same host over TCP, hosts two network namespaces over TCP (needs root). Prints for each size the
sends that waited, how far the found waiting is from the true one (median over the runs, and the worst), what was learned
about the size, whether the receiver's sleep is the first finding, and at the end one line for all.
"""
import argparse
import json
import re
import shutil
import statistics
import tempfile
from pathlib import Path

import hosts
from launch import launcher, run

SIZES = [80, 1_000, 4_000, 8_000, 16_000, 60_000, 100_000, 1_000_000]
LINE = re.compile(r"bytes (\d+) waited (\d+) of (\d+) for (-?[\d.]+) ms")
# MPICH over UCX and TCP now and then hangs in MPI_Finalize, without a tracer too.
ATTEMPTS = 3
# Found where nobody waited, as a part of what receivers were late: less is none.
NOTHING = 0.01


def words(mpi, way, folder):
    """How two ranks are started, and what comes before the whole command."""
    if way == "hosts":
        return hosts.launcher(mpi, folder / "agent")
    over_tcp = {"openmpi": ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"], "mpich": ["-genv", "UCX_TLS", "tcp,self"]}
    own = launcher(mpi, 2)
    return own[:1] + (over_tcp[mpi] if way == "tcp" else []) + own[1:]


def record(options, mpi, way, size, folder):
    """One run: what the program measured, and what the report says."""
    trace = folder / "run.kz"
    shutil.rmtree(trace, ignore_errors=True)
    program = options.workloads / mpi / "late_receiver"
    command = [options.kizami, "record", "-o", trace, "--", *words(mpi, way, folder), program, size, options.late,
               options.iterations, options.mode]
    if way == "hosts":
        line = " ".join(str(word) for word in command)
        command = ["ip", "netns", "exec", "kizami-a", "unshare", "--uts", "sh", "-c", f"hostname kizami-a; {line}"]
    for left in reversed(range(ATTEMPTS)):
        try:
            told = LINE.search(run("timeout", "-k", "5", "60", *command))
            break
        except SystemExit:
            if left == 0:
                raise
            shutil.rmtree(trace, ignore_errors=True)
    report = json.loads(run(options.kizami, "report", trace, "--json"))
    return [float(number) for number in told.groups()], report


def measure(options, mpi, way, size, folder):
    found = []
    for _ in range(options.runs):
        (_, waited, sends, true_ms), report = record(options, mpi, way, size, folder)
        ours = [wait for wait in report["waits_by_place"] if wait["pattern"] == "late-receiver"]
        ours_ms = sum(wait["ns"] for wait in ours) / 1e6
        late_ms = sends * options.late
        learned = next(row for row in report["protocols"] if row["from_bytes"] <= size <= row["to_bytes"])
        first = report["findings"][0] if report["findings"] else None
        blamed = first is not None and 1 in first["ranks"] and "late" in json.dumps(first)
        # Where few waited their time is small: what is off counts against all the time receivers were late.
        off = (ours_ms - true_ms) / (true_ms if waited > sends / 2 else late_ms)
        found.append((waited, sends, off, learned["waits"], blamed, waited == 0 and ours_ms > NOTHING * late_ms))
    offs = [off for _, _, off, _, _, _ in found]
    waited, sends = found[-1][0], found[-1][1]
    worst = max(offs, key=abs)
    blamed = sum(one[4] for one in found)
    learned = "/".join(sorted({one[3] for one in found}))
    print(f"{mpi:8} {way:6} {size:8} B  waited {waited:3.0f} of {sends:3.0f}  off {statistics.median(offs):+7.2%} (worst {worst:+7.2%})  "
          f"waits: {learned:10} receiver first in {blamed} of {len(found)}", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=Path, required=True)
    parser.add_argument("--workloads", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--late", type=float, default=20, help="milliseconds")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--mpi", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--way", action="append", choices=["shm", "tcp", "hosts"])
    parser.add_argument("--mode", default="send", choices=["send", "isend", "progress"])
    parser.add_argument("--bytes", type=int, action="append")
    options = parser.parse_args()
    options.kizami, options.workloads = options.kizami.resolve(), options.workloads.resolve()
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "agent").write_text(hosts.AGENT)
        (folder / "agent").chmod(0o755)
        for way in options.way or ["shm", "tcp"]:
            if way == "hosts":
                hosts.remove_hosts()
                hosts.make_hosts(None, 0)
            try:
                for mpi in options.mpi or ["openmpi", "mpich"]:
                    for size in options.bytes or SIZES:
                        everything += measure(options, mpi, way, size, folder)
            finally:
                if way == "hosts":
                    hosts.remove_hosts()
    close = sum(abs(off) <= 0.05 for _, _, off, _, _, _ in everything)
    print(f"{len(everything)} runs: {close} within 5 %, receiver first in {sum(one[4] for one in everything)}, "
          f"waiting found where nobody waited in {sum(one[5] for one in everything)}")


if __name__ == "__main__":
    main()
