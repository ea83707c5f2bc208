#!/usr/bin/env python3
"""Whether skeletons do, call by call, what the programs of workloads/ do on real MPIs.

    bench/skeleton.py --kizami PATH [--mpis mpich,openmpi] [--programs a,b,...] [--markdown] [--keep DIR]

Builds each program with its skeleton, and for each number of ranks: observes what depends on data, records a real run, and
has `kizami skeleton check` compare every call of every rank. A line for each program, MPI and number of ranks:

    program  MPI  ranks  identical k of n  calls compared  instructions kept of all  loops counted of all  oracles  build s

Ends with 1 if any rank differs, or a program that should be refused is not. kizami-skeleton must lie beside kizami.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WORKLOADS = Path(__file__).resolve().parent.parent / "workloads"
MPIS = {
    "mpich": (".mpich", ["mpirun.mpich"]),
    "openmpi": (".openmpi", ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]),
}
ANY, CUBES, POWERS = [4, 6, 9], [1, 8, 27], [2, 4, 8]
# Sources, numbers of ranks, arguments. Left out are programs that do not end well on purpose (abort, hang, exit_early) or
# when a clock or somebody else says so (counted).
PROGRAMS = {
    "pingpong": (["pingpong.c"], ANY, ["20", "64"]),
    "allreduce": (["allreduce.c"], ANY, ["20", "8"]),
    "halo": (["halo.c"], ANY, ["20", "64"]),
    "cheapest": (["cheapest.c"], ANY, ["100", "3"]),
    "doubling": (["doubling.c"], POWERS, ["20", "1000"]),
    "late_sender": (["late_sender.c"], ANY, ["1", "3"]),
    "late_receiver": (["late_receiver.c"], [2], ["1000,100000", "1", "3"]),
    "known_waits": (["known_waits.c"], ANY, ["late_sender", "1", "3", "1"]),
    "spin_exchange": (["spin_exchange.c"], ANY, ["halo", "5", "100", "10", "64"]),
    "scaling": (["scaling.c"], ANY, ["cg", "6400", "5"]),
    "registration": (["registration.c"], ANY, ["5", "100", "3"]),
    "stencil2d": (["stencil2d.c"], ANY, ["16", "10"]),
    "matmul_shift": (["matmul_shift.c"], ANY, ["12"]),
    "cg": (["cg.c"], ANY, ["300", "10"]),
    "radix_sort": (["radix_sort.c"], ANY, ["200"]),
    "persistent": (["persistent.c"], ANY, ["5", "8"]),
    "neighbours": (["neighbours.c"], ANY, ["5"]),
    "regions": (["regions.c"], ANY, ["4"]),
    "told_work": (["told_work.c"], ANY, ["100", "4", "1", "10"]),
    "fork": (["fork.c"], ANY, ["2"]),
    "closefrom": (["closefrom.c"], ANY, ["4", "10"]),
    "small_accesses": (["small_accesses.c"], ANY, ["10", "2"]),
    "hydro3d": (["apps/hydro3d.c"], CUBES, ["4", "5"]),
    "molecules": (["apps/molecules/exchange.c", "apps/molecules/forces.c", "apps/molecules/main.c"], [4, 8, 12], ["2", "5"]),
    "mgcg": (["apps/mgcg.cpp"], [4, 8, 12], ["8", "10"]),
    "fft3d": (["apps/fft3d.c"], POWERS, ["16", "2"]),
    "bucket_sort": (["apps/bucket_sort.c"], ANY, ["512", "3"]),
    "fem": (["apps/fem/exchange.cpp", "apps/fem/main.cpp", "apps/fem/mesh.cpp"], ANY, []),
    "cg2d": (["apps/counted_calls.f90", "apps/cg2d.f90"], POWERS, []),
    "mg3d": (["apps/counted_calls.f90", "apps/mg3d.f90"], POWERS, []),
    "ssor": (["apps/counted_calls.f90", "apps/ssor.f90"], ANY, []),
    "jacobi3d_mpif": (["jacobi3d_mpif.f90"], ANY, ["6", "5"]),
    "jacobi3d_usempi": (["jacobi3d_usempi.f90"], ANY, ["6", "5"]),
    "jacobi3d_f08": (["jacobi3d_f08.f90"], ANY, ["6", "5"]),
}
# Modes that use windows, and are not run here.
PARTIAL = {"known_waits": ["--partial"]}
# Threads that call MPI, inter-communicators, windows, files of MPI: no skeleton can be made of these.
REFUSED = {name: [f"{name}.c"] for name in
           ["threads", "late_threads", "small_stacks", "communicators", "onesided", "io", "files"]}


def run(words, folder, timeout=120):
    environment = os.environ | {"KIZAMI_SKELETON_STORE": str(folder / "store"), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = ["timeout", "-k", "2", str(timeout)] + [str(word) for word in words]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)


def last_words(done):
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return "took too long" if done.returncode in (124, 137) else (said[-1] if said else f"exit code {done.returncode}")


def build(kizami, program, sources, mpi, folder, options=()):
    ending, _ = MPIS[mpi]
    language = Path(sources[0]).suffix
    compiler = {".c": "mpicc", ".cpp": "mpicxx", ".f90": "mpifort"}[language] + ending
    standard = {".c": ["-std=gnu11"], ".cpp": ["-std=gnu++17"], ".f90": []}[language]
    includes = [f"-I{WORKLOADS}", f"-I{WORKLOADS.parent / 'include'}"]
    files = [WORKLOADS / source for source in sources]
    return run([kizami, "skeleton", "build", "-o", "skel", *PARTIAL.get(program, []), *options, "--", compiler, *standard, "-O2", "-g", "-w", *includes,
                "-o", program, *files, "-lm", "-lpthread"], folder)


class Table:
    HEAD = ["program", "MPI", "ranks", "identical", "calls", "instructions", "loops counted", "oracles", "build s", ""]

    def __init__(self, markdown):
        self.markdown = markdown
        self.wrong = 0
        self.line(self.HEAD)
        if markdown:
            print("|---" * len(self.HEAD) + "|")

    def line(self, cells):
        cells = [str(cell) for cell in cells]
        if self.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
            return
        widths = [16, 8, 5, 10, 8, 14, 13, 7, 7, 0]
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip(), flush=True)


def compare(kizami, program, mpi, table, folder):
    sources, all_ranks, arguments = PROGRAMS[program]
    done = build(kizami, program, sources, mpi, folder)
    try:
        manifest = json.loads((folder / "skel/manifest.json").read_text())
    except OSError:
        manifest = None
    if done.returncode != 0 or manifest is None:
        refused = manifest and manifest["refused"]
        first = refused and refused[0]
        why = f"{Path(first['file']).name}:{first['line']}: {first['reason']}" if refused else last_words(done)
        table.wrong += 1
        return table.line([program, mpi, "", "no skeleton", "", "", "", "", "", why])
    took = done.stdout.split("calls in the source, ")[1].split(" s")[0]
    kept = f"{manifest['instructions_after']} of {manifest['instructions_before']}"
    loops = f"{len(manifest['loops'])} of {manifest['loops_in_program']}"
    for ranks in all_ranks:
        identical, calls, why = at(kizami, program, mpi, ranks, arguments, bool(manifest["oracles"]), folder)
        table.wrong += why != ""
        table.line([program, mpi, ranks, identical, calls, kept, loops, len(manifest["oracles"]), took, why])


def at(kizami, program, mpi, ranks, arguments, observe, folder):
    """How many ranks are identical, how many calls were compared, and what is wrong."""
    launcher = [*MPIS[mpi][1], "-n", ranks]
    if observe:
        done = run([kizami, "skeleton", "observe", "skel", "--", *launcher, "{}", *arguments], folder)
        if done.returncode != 0:
            return "", "", f"observing: {last_words(done)}"
    trace = f"{ranks}.kz"
    done = run([kizami, "record", "-o", trace, "--", *launcher, folder / program, *arguments], folder)
    if done.returncode != 0:
        return "", "", f"recording: {last_words(done)}"
    done = run([kizami, "skeleton", "check", "skel", trace, "--json"], folder, 60)
    try:
        checked = json.loads(done.stdout)
    except json.JSONDecodeError:
        return "", "", f"running: {last_words(done)}"
    why = ""
    if checked["differences"]:
        first = checked["differences"][0]
        why = (f"rank {first['rank']}, call {first['call']} at {Path(first['place']).name}: recorded {first['recorded']}; "
               f"skeleton {first['skeleton']}")
    return f"{checked['identical']} of {checked['ranks']}", checked["compared"], why


def refuse(kizami, program, mpi, table, folder):
    build(kizami, program, REFUSED[program], mpi, folder)
    try:
        refused = json.loads((folder / "skel/manifest.json").read_text())["refused"]
    except OSError:
        refused = []
    table.wrong += not refused
    said = f"{Path(refused[0]['file']).name}:{refused[0]['line']}: {refused[0]['reason']}" if refused else "NOT REFUSED"
    table.line([program, mpi, "", "refused", "", "", "", "", "", said])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", required=True, type=Path)
    parser.add_argument("--mpis", default="mpich,openmpi")
    parser.add_argument("--programs", default=",".join([*PROGRAMS, *REFUSED]))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--keep", type=Path, help="leave programs, skeletons and recordings here")
    asked = parser.parse_args()
    kizami = asked.kizami.resolve()
    table = Table(asked.markdown)
    for program in asked.programs.split(","):
        for mpi in asked.mpis.split(","):
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch)
                if asked.keep:
                    folder = asked.keep.resolve() / mpi / program
                    subprocess.run(["rm", "-rf", folder], check=True)
                    folder.mkdir(parents=True)
                (refuse if program in REFUSED else compare)(kizami, program, mpi, table, folder)
    return 1 if table.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
