#!/usr/bin/env python3
"""How many rounds of loops between MPI calls skeletons count, of all that the programs of workloads/ make.

    bench/loop_rounds.py --kizami PATH [--mpi mpich] [--programs a,b,...] [--markdown] [--worst N]

Builds each program with its skeleton and, from the same code, with a counter at the end of each round of each loop that
holds no MPI call. Runs that on real ranks, the skeleton on as many, and compares loop by loop: a loop counts if the skeleton's
count over all ranks is that of the real run. A line for each program:

    program  ranks  loops counted of all  rounds counted exactly of all  per cent

--worst N lists the N loops with most rounds that are not counted or counted wrong.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

import skeleton
from skeleton import MPIS, PROGRAMS, run


def real_rounds(folder):
    """Rounds of each loop over all ranks, as the program with counters wrote them."""
    rounds = {}
    for file in (folder / "real").glob("*.rounds"):
        for line in file.read_text().splitlines():
            loop, count = map(int, line.split())
            rounds[loop] = rounds.get(loop, 0) + count
    return rounds


def measure(kizami, program, mpi, folder):
    """Loops with name, real rounds and counted rounds (None if they are not counted); or what went wrong."""
    sources, all_ranks, arguments = PROGRAMS[program]
    ranks = all_ranks[-1] if all_ranks[-1] <= 12 else all_ranks[1]
    done = skeleton.build(kizami, program, sources, mpi, folder, ["--rounds"])
    if done.returncode != 0:
        return ranks, skeleton.last_words(done)
    manifest = json.loads((folder / "skel/manifest.json").read_text())
    launcher = [*MPIS[mpi][1], "-n", ranks]
    if manifest["oracles"]:
        run([kizami, "skeleton", "observe", "skel", "--", *launcher, "{}", *arguments], folder)
    (folder / "real").mkdir()
    done = run(["env", f"KIZAMI_ROUNDS={folder / 'real'}", *launcher, folder / "skel/rounds", *arguments], folder)
    if done.returncode != 0:
        return ranks, "with counters: " + skeleton.last_words(done)
    done = run([kizami, "skeleton", "run", "skel", "--ranks", ranks, "--json", "--", *arguments], folder)
    if done.returncode != 0:
        return ranks, "skeleton: " + skeleton.last_words(done)
    counted = json.loads(done.stdout)["rounds"]
    real = real_rounds(folder)
    without = {loop["id"]: loop for loop in manifest["loops_not_counted"]}
    loops, next_counted = [], 0
    for number in range(manifest["loops_in_program"]):
        if number in without:
            loop, told = without[number], None
        else:
            loop, told = manifest["loops"][next_counted], counted[next_counted]
            next_counted += 1
        loops.append((f"{Path(loop['file']).name}:{loop['line']} {loop['function']}", real.get(number, 0), told))
    return ranks, loops


def line(cells, markdown):
    cells = [str(cell) for cell in cells]
    widths = [16, 5, 12, 30, 0]
    print("| " + " | ".join(cells) + " |" if markdown
          else "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=Path)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--worst", type=int, default=0)
    asked = parser.parse_args()
    line(["program", "ranks", "loops", "rounds", "%"], asked.markdown)
    if asked.markdown:
        print("|---" * 5 + "|")
    shares, worst = [], []
    for program in asked.programs.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            ranks, loops = measure(asked.kizami.resolve(), program, asked.mpi, Path(scratch))
        if isinstance(loops, str):
            line([program, ranks, "", loops, ""], asked.markdown)
            continue
        whole = sum(real for _, real, _ in loops)
        exact = sum(real for _, real, told in loops if told == real)
        counted = sum(told is not None for _, _, told in loops)
        share = 100 * exact / whole if whole else 100
        shares.append(share)
        line([program, ranks, f"{counted} of {len(loops)}", f"{exact} of {whole}", f"{share:.1f}"], asked.markdown)
        missed = [(real, program, name, told) for name, real, told in loops if told != real]
        if asked.worst:
            for real, _, name, told in sorted(missed, key=lambda loop: -loop[0])[:asked.worst]:
                print(f"    {real} rounds, {'not counted' if told is None else f'counted {told}'}: {name}")
    if shares:
        print(f"mean {sum(shares) / len(shares):.1f} %, 90 % or more in {sum(share >= 90 for share in shares)} of {len(shares)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
