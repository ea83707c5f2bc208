#!/usr/bin/env python3
"""Attacks on whatever reads traces: traces may come from somebody else, and so may anything around them.

    bench/attack/reading.py --kizami PATH [--small | --gate] [--only NAME] [--mpi openmpi] [--seed 1] [--keep DIR]

PATH is kizami, with libkizami.so beside it. Records a few traces of ring.c, so mpicc and mpirun of an MPI are needed. NAME is
links, caches, names, viewer, bombs or platforms. Prints one line for each attack: what was tried, how many cases, how many held; below it
the first cases that failed and how to repeat them. All that failed are told in DIR, with what they were made of. Ends with 1 if
any failed.

--gate takes about a minute, --small some minutes, all of it hours. Some cases need root, to be another user or to mount a full file system; they say so
if they are left out.
"""
import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from bombs import bombs
from caches import caches
from links import links
from names import names
from platforms import platforms
from reading_bench import Bench
from viewer import viewer

ATTACKS = {"links": links, "caches": caches, "names": names, "viewer": viewer, "bombs": bombs,
           "platforms": platforms}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("--small", action="store_true", help="a few cases of each, in minutes")
    parser.add_argument("--gate", action="store_true", help="as --small, with smaller bombs")
    parser.add_argument("--only", choices=list(ATTACKS), help="this attack only")
    parser.add_argument("--mpi", help="whose mpicc.NAME and mpirun.NAME to use (default: openmpi, else mpich)")
    parser.add_argument("--seed", type=int, default=1, help="what chance is made from")
    parser.add_argument("--keep", type=lambda path: Path(path).resolve(), default=Path("attack-failures").resolve(),
                        help="where failed cases are kept (default: attack-failures)")
    options = parser.parse_args()
    options.small |= options.gate
    options.count = lambda full, small: small if options.small else full
    options.mpi = options.mpi or ("openmpi" if shutil.which("mpicc.openmpi") else "mpich")
    held = []
    with tempfile.TemporaryDirectory(prefix="kizami-attack-") as scratch:
        bench = Bench(options, Path(scratch))
        for name, attack in ATTACKS.items():
            if options.only in (None, name):
                # Each has chance of its own, so that one alone does what it does among the others.
                bench.chance = random.Random(f"{options.seed} {name}")
                held += attack(bench)
    print(f"{sum(held)} of {len(held)} attacks held" + ("" if all(held) else f"; failed cases are in {options.keep}"))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
