"""What attacks on the recorder share: processes and their end, programs, and the counts they keep of themselves."""
import ctypes
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
RANKS = 2
SLOT_BYTES = 64
LONG = 240  # seconds that no case takes unless something hangs, however busy the machine is
BECOME_REAPER = 36  # PR_SET_CHILD_SUBREAPER


class Failed(Exception):
    """The product did something wrong."""


class Skipped(Exception):
    """The case says nothing: it goes wrong without the product as well."""


# ---- processes -------------------------------------------------------------------------------------------------------

def adopt_orphans():
    """Whoever loses its parent becomes our child, so that nothing we started is ever out of sight."""
    ctypes.CDLL(None).prctl(BECOME_REAPER, 1, 0, 0, 0)


def status_of(process):
    """A process's state and parent, or nothing if it is gone."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return words[0], int(words[1])
    except (OSError, IndexError):
        return None


def alive(process):
    status = status_of(process)
    return bool(status) and status[0] != "Z"


def name_of(process):
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return "gone"


def descendants(ancestor):
    children = {}
    for name in os.listdir("/proc"):
        status = status_of(name) if name.isdigit() else None
        if status:
            children.setdefault(status[1], []).append(int(name))
    found, todo = [], [ancestor]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def bury():
    """Reaps dead orphans: a process nobody has waited for still looks alive to others."""
    for process in descendants(os.getpid()):
        status = status_of(process)
        if process not in STARTED and status and status == ("Z", os.getpid()):
            try:
                os.waitpid(process, os.WNOHANG)
            except ChildProcessError:
                pass


def end_all():
    """Ends whatever a case has left: all of it descends from us."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = [process for process in descendants(os.getpid()) if process not in STARTED]
        for process in left:
            kill(process)
        bury()
        if not left:
            return
        time.sleep(0.01)


STARTED = set()  # processes that subprocess waits for


class Process:
    """A command that runs, with what it prints in files, so that nobody blocks on a full pipe."""

    def __init__(self, words, folder, environment=None):
        self.words = [str(word) for word in words]
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        everything = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **(environment or {}))
        self.child = subprocess.Popen(self.words, cwd=folder, env=everything, stdin=subprocess.DEVNULL,
                                      stdout=self.out, stderr=self.err)
        STARTED.add(self.child.pid)

    def wait(self, seconds=LONG):
        """The exit code, or nothing if it did not end in time; then it is ended."""
        try:
            self.code = self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.left = [name_of(process) for process in descendants(self.child.pid) if alive(process)]
            for process in [*descendants(self.child.pid), self.child.pid]:
                kill(process)
            self.child.wait()
            self.code = None
        STARTED.discard(self.child.pid)
        self.printed, self.told = (self.text(file) for file in (self.out, self.err))
        return self.code

    @staticmethod
    def text(file):
        file.seek(0)
        with file:
            return file.read().decode(errors="replace")

    def lines(self):
        """What the program printed, whoever was first; MPI's own complaints begin with a bracket and hold times."""
        return sorted(line for line in self.printed.splitlines() if not line.startswith("["))


def run(words, folder, environment=None, seconds=LONG):
    process = Process(words, folder, environment)
    process.wait(seconds)
    return process


def short(text):
    """What somebody said, on one line; of much, the beginning and the end."""
    words = " ".join(text.split())
    return words if 0 < len(words) <= 300 else f"{words[:150]} ... {words[-150:]}" if words else "(nothing)"


# ---- the programs and the product ------------------------------------------------------------------------------------

class Bench:
    """Where things are, and how they are run."""

    def __init__(self, options, folder):
        self.kizami, self.folder = options.kizami, folder
        self.gate, self.small = options.gate, options.small or options.gate
        self.results_only = options.results_only
        self.seed, self.mpis = options.seed, options.mpi or ["openmpi", "mpich"]
        self.built = {}
        self.serial = 0

    def times(self, full, small):
        return small if self.small else full

    def build(self, mpi, source, name=None, *flags, compiler="gcc"):
        """A program or library of one of the sources beside this file; "alone" is without MPI."""
        path = self.folder / "built" / mpi / (name or source)
        if path not in self.built:
            path.parent.mkdir(parents=True, exist_ok=True)
            compile = "gcc" if mpi == "alone" else f"mpicc.{mpi}"
            command = [compile, "-g", "-O1", "-pthread", HERE / f"{source}.c", "-o", path, *flags]
            made = run(command, self.folder, {"OMPI_CC": compiler, "MPICH_CC": compiler})
            if made.code != 0:
                sys.exit(f"{shlex.join(made.words)} failed:\n{made.told}")
            self.built[path] = True
        return path

    def library(self, mpi, source):
        return self.build(mpi, source, f"lib{source}.so", "-shared", "-fPIC", "-ldl")

    def case_folder(self):
        self.serial += 1
        path = self.folder / f"case-{self.serial}"
        path.mkdir()
        return path

    def launch(self, mpi, *program, ranks=RANKS, options=()):
        # Ranks that wait let others run: the machine may have fewer cores than ranks.
        own = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if mpi == "openmpi" else []
        return [f"mpirun.{mpi}", *own, "-n", ranks, *options, *program]

    def record(self, line, *options, output="run.kz"):
        return [self.kizami, "record", *options, "-o", output, "--", *line]

    def seal(self, folder, *options):
        return run([self.kizami, "seal", *options, "run.kz"], folder)

    def info(self, folder, trace="run.kz"):
        """What the product says of a trace, or a failure in its words."""
        told = run([self.kizami, "info", "--json", trace], folder)
        if told.code != 0:
            raise Failed(f"kizami info: {short(told.told)}")
        return json.loads(told.printed)


class Counts:
    """The file in which ranks count their calls."""

    def __init__(self, folder, name="counts"):
        self.path = folder / name
        self.path.write_bytes(bytes(4096))
        self.environment = {"ATTACK_COUNTS": str(self.path)}

    def field(self, index):
        data = self.path.read_bytes()
        return [struct.unpack_from("<Q", data, rank * SLOT_BYTES + 8 * index)[0] for rank in range(RANKS)]

    def calls(self):
        return self.field(0)

    def nested(self):
        return sum(self.field(3))

    def processes(self):
        return [process for process in self.field(1) if process]

    def ended(self):
        return all(self.field(2))


def check_counts(info, counts, under_way=0, nested=0):
    """Recorded and lost calls are all there are; who was killed may have had one more under way in each rank, and calls
    of signal handlers inside another call are recorded or not."""
    totals, health = info["totals"], info["health"]
    # With --io there are calls on files as well, which the program does not count.
    recorded = sum(one["calls"] for one in info["functions"] if one["op"].startswith("MPI_"))
    own, told = sum(counts), recorded + totals["lost_calls"]
    what = f"the program made {counts} calls, recorded are {recorded}, lost {totals['lost_calls']}, {health}"
    if not own <= told <= own + under_way * RANKS + nested:
        raise Failed(what)
    if totals["lost_calls"] and health["complete"]:
        raise Failed(f"complete in spite of a loss: {what}")
    if not health["complete"] and not health["problems"]:
        raise Failed(f"incomplete without a word: {what}")
    by_rank = {one["rank"]: one["calls"] for one in info["rank_summaries"]}
    # Of lost calls, and of calls on files, it is not told whose they are.
    told_by_rank = totals["lost_calls"] == nested == 0 and recorded == totals["calls"]
    for rank, calls in enumerate(counts):
        if told_by_rank and not calls <= by_rank.get(rank, 0) <= calls + under_way:
            raise Failed(f"rank {rank} made {calls} calls, recorded are {by_rank.get(rank, 0)}")


def check_files(folder):
    """Each file of a trace is as its list says; we read it ourselves."""
    trace = folder / "run.kz"
    for one in json.loads((trace / "run.json").read_text())["files"]:
        data = (trace / one["path"]).read_bytes()
        if (len(data), zlib.crc32(data)) != (one["bytes"], one["crc32"]):
            raise Failed(f"{one['path']} is not what run.json says")


def check_same(bare, recorded):
    """What users see of their program is as without the product."""
    if recorded.code is None and bare.code is not None:
        raise Failed("hangs")
    if bare.code != recorded.code:
        raise Failed(f"exit code {recorded.code}, without recording {bare.code}: {short(recorded.told)}")
    if bare.lines() != recorded.lines():
        only = [short("; ".join((Counter(one.lines()) - Counter(other.lines())).elements()))
                for one, other in ((recorded, bare), (bare, recorded))]
        raise Failed(f"printed {only[0]}, without recording {only[1]}")
    if "panicked" in recorded.told:
        raise Failed(f"panicked: {short(recorded.told)}")


def check_refusal(process):
    """Who does not do what it was asked for says why."""
    if process.code != 1 or "panicked" in process.told or not process.told.strip():
        raise Failed(f"{shlex.join(process.words)}: exit code {process.code}, said {short(process.told)}")
