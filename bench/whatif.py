#!/usr/bin/env python3
"""Whether a run really gains what `kizami whatif` says it would.

    bench/whatif.py --kizami target/release/kizami --workloads DIR [--runs 9] [--delay 20] [--iterations 20]
                    [--ranks 2] [--mpi openmpi --mpi mpich]

DIR is what workloads/build-both.sh made. Every round records known_waits imbalanced_barrier with a delay of the last
rank and without, one after the other, so that noise of the machine hits both alike. Predicted is the gain of the
first finding of `kizami report` on the run with the delay; measured is how much shorter the one without it is.
Error is predicted minus measured in percent of the run with the delay; each figure is the median over the rounds, and
noise half the distance between the quartiles of the measured gain. Claimed is the error the report itself expects.
"""
import argparse
import json
import statistics
import tempfile
from pathlib import Path

from launch import launcher, run


def record(options, mpi, delay, trace):
    """The report of one run."""
    program = Path(options.workloads) / mpi / "known_waits"
    arguments = ["imbalanced_barrier", delay, options.iterations]
    run(options.kizami, "record", "-o", trace, "--", *launcher(mpi, options.ranks), program, *arguments)
    return json.loads(run(options.kizami, "report", trace, "--json"))


def measure(options, mpi):
    """Predicted and measured gain and claimed error of each round, in percent of the run with the delay."""
    rounds = []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as scratch:
            slow = record(options, mpi, options.delay, Path(scratch) / "slow.kz")
            quick = record(options, mpi, 0, Path(scratch) / "quick.kz")
        gain = slow["findings"][0]["gain"]
        if gain is None:
            print(f"{mpi}: the first finding has no gain: {slow['findings'][0]['sentence']}")
            continue
        measured = 1 - quick["run_ns"] / slow["run_ns"]
        rounds.append((100 * gain["share"], 100 * measured, 100 * gain["share_error"]))
    return rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True)
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--delay", type=int, default=20, help="milliseconds")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mpi", action="append", help="openmpi or mpich; both unless said")
    options = parser.parse_args()
    print("mpi      rounds  predicted %  measured %  error %  |error| %  claimed %  noise %")
    for mpi in options.mpi or ["openmpi", "mpich"]:
        rounds = measure(options, mpi)
        if not rounds:
            continue
        predicted, measured, claimed = (statistics.median(column) for column in zip(*rounds))
        errors = [predicted - measured for predicted, measured, _ in rounds]
        gains = [measured for _, measured, _ in rounds]
        quartiles = statistics.quantiles(gains, n=4) if len(gains) > 1 else [0, 0, 0]
        noise = (quartiles[2] - quartiles[0]) / 2
        error, size = statistics.median(errors), statistics.median(map(abs, errors))
        print(f"{mpi:<7}  {len(rounds):>6}  {predicted:>11.2f}  {measured:>10.2f}  {error:>+7.2f}  "
              f"{size:>9.2f}  {claimed:>9.2f}  {noise:>7.2f}")


if __name__ == "__main__":
    main()
