"""The programs of workloads/truth: what each declares about itself, how it is built, and how it is started.

A program declares its truth in the comment on top, one `key: value` on a line:

    disease    what is wrong with it; several words where it may honestly be called by several names; missing in a
               healthy program
    hang       it never ends; the ranks that wait for each other (or for whom all others wait)
    fix        `fix` (the default: the disease, or the excess of work, is gone) or `balance` (all work is still done, the
               same by each rank): the mode that shows the real gain
    blamed     ranks that are to blame, such as `3`, `1,3` or `4-7`; missing where nobody in particular is
    place      `apart` if its place is counted apart
    counted    `later` if all of it is counted apart
    sources, flags   further files, and flags of the compiler
    run        one run: its name, `smpi=`, `openmpi=`, `mpich=` or `real=` (both of those) with the number of ranks, and
               `args="..."`; a word `seed` there is replaced. All keys above but the last two lines can be given here
               again, `key=value`, and also `net=cabinets`, `overhead=` (what a message costs its sender and its
               receiver, in seconds) or `cfg=...` (SimGrid), `over=tcp`, `options=...` (of `kizami record`), `on=...`
               (these MPIs only)

The place is marked in the source: the line with `the place`, or the lines from `place begin` to `place end`. They go from
the work that is to blame to the call it leads up to.
"""
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "workloads" / "truth"
SHARED = ["truth.h", "truth.f90", "truth.py", "truth_for_fortran.c", "simgrid_fortran.c", "polite.c"]
KEYS = ["disease", "hang", "fix", "blamed", "place", "counted", "sources", "flags", "options", "arguments"]
# Folders of programs that no detector was built on, each counted by itself.
APART = ["apart", "frozen", "unseen"]
REAL = ["openmpi", "mpich"]
MPIS = ["smpi"] + REAL
# Runs that take longer have hung.
PATIENCE_S = 120
# Several cases share a program.
BUILDING = threading.Lock()


class Trouble(Exception):
    """Something failed that no verdict is about."""


@dataclass
class Case:
    """One run of one program."""
    source: Path
    name: str
    ranks: dict
    arguments: list
    places: list
    declared: dict
    set: str = "built"
    settings: dict = field(default_factory=dict)

    def says(self, key, otherwise=""):
        return self.settings.get(key, self.declared.get(key, otherwise))

    @property
    def diseases(self):
        return self.says("disease").split()

    @property
    def hang(self):
        return [int(rank) for rank in self.says("hang").split()]

    @property
    def healthy(self):
        return not self.diseases and not self.hang

    @property
    def blamed(self):
        return ranks_of(self.says("blamed"))

    @property
    def fix(self):
        return self.says("fix", "fix")


def ranks_of(text):
    """1,4-6 as a set."""
    ranks = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        ranks.update(range(int(first), int(last or first) + 1))
    return ranks


def places_of(lines):
    """Stretches of lines that are marked as the place, both ends included."""
    places, begin = [], None
    for number, line in enumerate(lines, 1):
        if re.search(r"(/\*|!|#|//) place begin", line):
            begin = number
        if re.search(r"(/\*|!|#|//) place end", line):
            places.append((begin, number))
        if re.search(r"(/\*|!|#|//) the place", line):
            places.append((number, number))
    return places


def read(source, seed):
    """The cases of one program."""
    lines = source.read_text().splitlines()
    declared, runs = {}, []
    for line in lines:
        found = re.match(r"\s*(?:\*|!|#)?\s*([a-z]+): (.*?)\s*$", line)
        if not found:
            continue
        if found[1] == "run":
            runs.append(shlex.split(found[2]))
        elif found[1] in KEYS:
            declared.setdefault(found[1], found[2])
    for name, *words in runs:
        settings = dict(word.split("=", 1) for word in words)
        arguments = [str(seed) if word == "seed" else word for word in settings.pop("args", "").split()]
        real = settings.pop("real", None)
        ranks = {mpi: int(settings.pop(mpi, real)) for mpi in REAL if mpi in settings or real}
        if "smpi" in settings:
            ranks["smpi"] = int(settings.pop("smpi"))
        if "on" in settings:
            ranks = {mpi: count for mpi, count in ranks.items() if mpi in settings["on"].split(",")}
        set_name = source.parent.name if source.parent.name in APART else "built"
        full_name = f"{source.stem}/{name}"
        yield Case(source, full_name, ranks, arguments, places_of(lines), declared, set_name, settings)


def all_cases(seed):
    folders = [SOURCES] + [SOURCES / name for name in APART]
    for source in (source for folder in folders for source in sorted(folder.glob("*.*"))):
        if source.name not in SHARED and source.suffix in (".c", ".cpp", ".f90", ".py"):
            yield from read(source, seed)


def prepared():
    return Path(os.environ.get("KIZAMI_TEST_DIR") or Path.home() / ".cache" / "kizami")


def compiler(mpi, suffix):
    names = {".c": ("smpicc", "mpicc"), ".cpp": ("smpicxx", "mpicxx"), ".f90": ("smpif90", "mpifort")}[suffix]
    return names[0] if mpi == "smpi" else f"{names[1]}.{mpi}"


def build(case, mpi):
    """The program of a case as an MPI starts it: words of a command line. Built again only if something changed."""
    if case.source.suffix == ".py":
        python = prepared() / "python" / "mpich" / "bin" / "python3" if mpi == "mpich" else "/usr/bin/python3"
        return [str(python), str(case.source)]
    sources = [case.source] + [case.source.parent / name for name in case.says("sources").split()]
    flags = ["-O1", "-g", "-I", str(SOURCES)] + case.says("flags").split()
    if case.source.suffix == ".f90":
        sources = [SOURCES / "truth.f90"] + sources
    text = "".join(path.read_text() for path in sources + [SOURCES / name for name in SHARED if (SOURCES / name).exists()])
    stamp = hashlib.sha256(" ".join([text, mpi, *flags]).encode()).hexdigest()[:16]
    folder = prepared() / "truth" / mpi / f"{case.source.stem}-{stamp}"
    program = folder / case.source.stem
    with BUILDING:
        if not program.exists():
            compile_into(folder, mpi, case.source.suffix, sources, flags)
    return [str(program)]


def compile_into(folder, mpi, suffix, sources, flags):
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob(f"{folder.name.rsplit('-', 1)[0]}-*"):
        # Somebody may be running one of yesterday's sources, but hardly of the day before.
        if time.time() - old.stat().st_mtime > 2 * 86400:
            shutil.rmtree(old)
    making = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".making-"))
    # What polite.c stands before is looked for in the program only if that says it has it.
    helpers, last = (["polite.c"], ["-Wl,--export-dynamic", "-ldl"]) if mpi in REAL else ([], [])
    if suffix == ".f90":
        helpers.append("truth_for_fortran.c")
    if suffix == ".f90" and mpi == "smpi":
        helpers.append("simgrid_fortran.c")
        last.append("-Wl,-Bsymbolic")
        sources = [for_simgrid(source, making) for source in sources]
    objects = [str(making / f"{helper}.o") for helper in helpers]
    for helper, target in zip(helpers, objects):
        must([compiler(mpi, ".c"), *flags, "-O2", "-c", "-o", target, str(SOURCES / helper)], making)
    program = making / folder.name.rsplit("-", 1)[0]
    standard = ["-std=c++17"] if suffix == ".cpp" else []
    must([compiler(mpi, suffix), *flags, *standard, "-o", str(program), *map(str, sources), *objects, *last, "-lm"], making)
    try:
        making.rename(folder)
    except OSError:
        # Somebody else was quicker.
        shutil.rmtree(making)


def for_simgrid(source, folder):
    """A copy of a Fortran source as SimGrid wants it. Its compiler would make such a copy itself, under a name of chance,
    which would then be the name in the report."""
    text = re.sub(r"^(end )?program\b.*$", r"\1subroutine user_main", source.read_text(), flags=re.MULTILINE)
    copy = folder / source.name
    copy.write_text(re.sub("(?i)program", "text", text))
    return copy


def must(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise Trouble(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


CLUSTER = '<cluster id="{name}" prefix="{name}-" radical="0-{last}" suffix="" speed="1Gf" bw="1.25GBps" lat="1us"{more}/>'
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
{}
</platform>
"""
CABINETS = """<zone id="all" routing="Full">
{}
{}
<link id="backbone" bandwidth="125MBps" latency="20us"/>
<zoneRoute src="left" dst="right" gw_src="left-router" gw_dst="right-router"><link_ctn id="backbone"/></zoneRoute>
</zone>"""


def describe_network(case, ranks, folder):
    """A simulated machine with a node for each rank: one cluster, or two cabinets with a slow line between them, where
    ranks fill one cabinet and then the other."""
    if case.says("net") == "cabinets":
        half = ranks // 2
        halves = [CLUSTER.format(name=name, last=half - 1, more=f' router_id="{name}-router"') for name in ("left", "right")]
        network, hosts = CABINETS.format(*halves), [f"{name}-{node}" for name in ("left", "right") for node in range(half)]
    else:
        network = CLUSTER.format(name="node", last=ranks - 1, more="")
        hosts = [f"node-{node}" for node in range(ranks)]
    (folder / "cluster.xml").write_text(PLATFORM.format(network))
    (folder / "hosts").write_text("".join(f"{host}\n" for host in hosts))


def launcher(case, mpi, folder):
    """How a case is started, but for its program."""
    ranks = case.ranks[mpi]
    tcp = case.says("over") == "tcp"
    if mpi == "smpi":
        describe_network(case, ranks, folder)
        settings = ["smpi/simulate-computation:no"] + case.says("cfg").split()
        if case.says("overhead"):
            settings += [f"smpi/{which}:0:{case.says('overhead')}:0" for which in ("os", "ois", "or")]
        return ["smpirun", "-np", str(ranks), "-platform", "cluster.xml", "-hostfile", "hosts",
                *(f"--cfg={setting}" for setting in settings), "--log=root.thres:warning"]
    if mpi == "openmpi":
        transport = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"] if tcp else []
        return ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", *transport, "-n", str(ranks)]
    return ["mpirun.mpich", *(["-genv", "UCX_TLS", "tcp,self"] if tcp else []), "-n", str(ranks)]


def environment(mpi):
    variables = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                     PYTHONPATH=str(SOURCES), PYTHONDONTWRITEBYTECODE="1")
    if mpi == "mpich":
        # Where mpi4py's wheel finds Debian's MPICH.
        variables["LD_LIBRARY_PATH"] = str(prepared() / "mpich-name")
    return variables


def end(process):
    """Ends a launcher that does not end by itself. Only if it is asked to does it end its ranks."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def run(command, mpi, folder, interrupt_after_s=None):
    """Runs a command to its end and gives what it printed. One that is meant to hang is interrupted, as by Ctrl-C."""
    process = subprocess.Popen(command, cwd=folder, env=environment(mpi), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=interrupt_after_s or PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        if interrupt_after_s:
            return process.communicate()[0]
        end(process)
        raise Trouble(f"{' '.join(command)} took more than {PATIENCE_S} s")
    # A simulator sees by itself that nothing goes on.
    if process.returncode != 0 and not interrupt_after_s:
        raise Trouble(f"{' '.join(command)} failed:\n{out[-2000:]}{err[-2000:]}")
    return out
