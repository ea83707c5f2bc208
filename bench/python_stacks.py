#!/usr/bin/env python3
"""Results of Python programs with several numerical packages, recorded and not.

    bench/python_stacks.py --kizami target/release/kizami --python VENV/bin/python [--rounds 1] [--mpich-name DIR]

Runs workloads/numeric.py with packages in different orders, with each MPI and each value of --openmp, bare and
recorded, and compares what is printed and the exit code. Where modules are bound to several runtimes, as the loader says
of a bare run (LD_DEBUG=bindings), all but the recorded one must be named by health. VENV needs mpi4py, numpy, scipy,
scikit-learn and intel-openmp; torch is used if it is there. DIR holds Debian's MPICH by the name libmpi.so.12 that
mpi4py's wheel looks for. Prints a line for each run, and ends with 1 if one differs.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "workloads/numeric.py"
MODES = ["auto", "regions", "tasks", "off"]
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "2",
               "KMP_DUPLICATE_LIB_OK": "TRUE", "OMP_WAIT_POLICY": "passive"}
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "2"],
    "mpich": ["mpirun.mpich", "-n", "2"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--mpich-name", type=Path, default=Path.home() / ".cache/kizami/mpich-name")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    wrong = tried = 0
    for mpi, launcher in LAUNCHERS.items():
        environment = dict(os.environ, **ENVIRONMENT)
        if mpi == "mpich":
            environment["LD_LIBRARY_PATH"] = str(arguments.mpich_name)
        for packages in orders(arguments.python):
            line = [*launcher, str(arguments.python.absolute()), str(PROGRAM), *packages]
            bare = run(line, environment)
            if bare != run(line, environment):
                print(f"{mpi} {' '.join(packages)}: differs from run to run without Kizami", flush=True)
                continue
            runtimes = bound_runtimes(line, environment)
            for mode in MODES * arguments.rounds:
                tried += 1
                problems, told = compare(arguments.kizami.absolute(), mode, line, environment, bare, runtimes)
                wrong += bool(problems)
                print(f"{mpi} {' '.join(packages)} --openmp {mode}: {'; '.join(problems) or 'equal'}; {told}", flush=True)
    print(f"{tried - wrong} of {tried} equal")
    return 1 if wrong else 0


def orders(python):
    has_torch = subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    yield ["numpy", "scipy", "sklearn"]
    yield ["sklearn", "intel", "numpy"]
    yield ["intel", "sklearn", "scipy"]
    if has_torch:
        yield ["torch", "sklearn", "numpy"]
        yield ["sklearn", "torch", "intel"]
        yield ["intel", "torch", "scipy", "sklearn"]


def run(line, environment, folder=None):
    """What is printed and the exit code."""
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    return done.stdout, done.returncode


def bound_runtimes(line, environment):
    """The libraries in which the loader found what opens parallel regions."""
    with tempfile.TemporaryDirectory() as folder:
        run(line, environment | {"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": f"{folder}/bindings"})
        told = "".join(path.read_text(errors="replace") for path in Path(folder).iterdir())
    found = re.findall(r"binding file .* to (\S+) \[\d+\]: normal symbol `(?:GOMP_parallel|__kmpc_fork_call)'", told)
    return sorted({Path(path).name for path in found})


def compare(kizami, mode, line, environment, bare, runtimes):
    with tempfile.TemporaryDirectory() as folder:
        recorded = run([kizami, "record", "--openmp", mode, "-o", "run.kz", "--", *line], environment, folder)
        problems = [] if recorded == bare else [f"printed {recorded} instead of {bare}"]
        text = subprocess.run([kizami, "info", "--json", "run.kz"], cwd=folder, capture_output=True, text=True).stdout
        info = json.loads(text)
        missing = " ".join(info["health"]["problems"])
        untold = [name for name in runtimes if name not in missing]
        if mode != "off" and len(untold) > 1:
            problems.append(f"health does not name {' or '.join(untold)}")
        return problems, f"{info['totals']['calls']} calls, {len(runtimes)} runtimes; {missing or 'complete'}"


if __name__ == "__main__":
    sys.exit(main())
