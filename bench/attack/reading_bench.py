"""What attacks on readers share: counting cases, running commands within limits, the traces that are attacked."""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

import forged

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parents[1] / "include"
NOBODY = 65534
PANIC = 101
# No command gets more memory of its own, so that a bomb that goes off does not take the machine with it. Files that it maps do
# not count: the system can take their pages back.
MOST_MEMORY = 2 << 30
PATIENCE = 60
# Failed cases of an attack that are printed one by one, and those that are kept; all are told in a file.
MOST_TOLD = 12
MOST_KEPT = 200
# How long an attack may say nothing.
SILENCE_S = 60
# What a command that was told to stay within 256 MiB may really take: its own code and buffers come on top.
WITHIN = "256M"
MOST_RESIDENT = 512 << 20
HEAD_WORDS = 16


class Attack:
    """Counts cases, and prints what became of them."""

    def __init__(self, name, what, options):
        self.name, self.what, self.options = name, what, options
        self.cases, self.failures, self.notes = 0, [], []
        self.begun = self.told = time.monotonic()

    def case(self, failure=None, repeat="", keep=()):
        """One case; `failure` says what was wrong, if anything was. `keep` are folders or files that show it."""
        self.cases += 1
        if failure or time.monotonic() - self.told > SILENCE_S:
            self.told = time.monotonic()
            what = f"case {self.cases} failed: {failure}" if failure else f"{self.cases} cases"
            print(f"{self.name}: {what}, {self.told - self.begun:.0f} s", file=sys.stderr, flush=True)
        if not failure:
            return
        kept = []
        if len(self.failures) < MOST_KEPT:
            for path in keep:
                kept.append(keep_copy(path, self.options.keep / f"{self.name.replace(' ', '-')}-{len(self.failures)}"))
                for old in (str(path), shown([path])):
                    repeat = repeat.replace(old, str(kept[-1]))
        self.failures.append((failure, repeat, kept))

    def note(self, text):
        self.notes.append(text)

    def end(self):
        took = time.monotonic() - self.begun
        held = self.cases - len(self.failures)
        print(f"{self.name}: {self.what}: {self.cases} cases, {held} held ({took:.0f} s)", flush=True)
        for text in self.notes:
            print(f"    {text}")
        told = []
        for failure, repeat, kept in self.failures:
            extra = [str(path) for path in kept if str(path) not in repeat]
            told.append(f"    FAILED {failure}\n        repeat: {repeat}" + (f"   with {' '.join(extra)}" if extra else ""))
        print("\n".join(told[:MOST_TOLD]), end="\n" if told else "")
        if told:
            file = self.options.keep / f"{self.name.replace(' ', '-')}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(told) + "\n")
        if len(told) > MOST_TOLD:
            print(f"    FAILED and {len(told) - MOST_TOLD} more, all in {file}:")
            kinds = {}
            for failure, _, _ in self.failures[MOST_TOLD:]:
                kind = re.sub(r"\d+", "N", failure)
                kinds[kind] = kinds.get(kind, 0) + 1
            for kind, count in sorted(kinds.items(), key=lambda item: -item[1])[:MOST_TOLD]:
                print(f"        {count} x {kind}")
        sys.stdout.flush()
        return not self.failures


def keep_copy(path, folder):
    """Keeps what shows a failure; what cannot be copied is no reason to stop."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / re.sub(r"[^\w.-]", "_", path.name)
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(path, target, follow_symlinks=False)
    except OSError:
        pass
    return target


class Ended:
    """How a command ended."""

    def __init__(self, code, out, err, resident, own, patience):
        self.code, self.out, self.err, self.patience = code, out, err, patience
        # Largest resident memory, and what of it was seen to be no file's.
        self.resident, self.own = resident, own

    def wrong(self):
        """What no command may do, whatever it is given."""
        if self.code is None:
            return f"did not end in {self.patience} s"
        if self.code < 0:
            return f"ended by signal {-self.code} ({signal.Signals(-self.code).name}): {why_line(self.err)}"
        if self.code == PANIC or b"panicked at" in self.err:
            return f"{why_line(self.err)}"
        if self.code and not self.err.strip():
            return f"ended with {self.code} and no sentence"
        return None


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1][:160] if lines else ""


def why_line(text):
    """The line that says why a program broke down."""
    lines = text.decode(errors="replace").splitlines()
    found = [line for line in lines if "panicked at" in line or "memory allocation" in line]
    return found[0][:160] if found else last_line(text)


def own_memory(process):
    """What a process holds that is no file's, or 0 if it is gone."""
    try:
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def run(words, cwd=None, environment=None, patience=PATIENCE, watch=False, limits=True):
    """Runs a command to its end, or to the end of our patience."""
    def limit():
        if limits:
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))

    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    process = subprocess.Popen([str(word) for word in words], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                               stdout=out, stderr=err, preexec_fn=limit, start_new_session=True)
    killer = threading.Timer(patience, lambda: kill_group(process.pid))
    killer.start()
    own = 0
    while watch and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        own = max(own, own_memory(process.pid))
        time.sleep(0.01)
    _, status, usage = os.wait4(process.pid, 0)
    is_late = not killer.is_alive()
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    texts = []
    for file in (out, err):
        file.seek(0)
        texts.append(file.read())
        file.close()
    return Ended(None if is_late else process.returncode, *texts, usage.ru_maxrss << 10, own, patience)


def kill_group(process):
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def shown(words):
    return " ".join(re.sub(r"[^\x20-\x7e]", "?", str(word)) for word in words)


def signed(trace_path):
    forged.sign(trace_path)
    return trace_path


class Bench:
    """The traces everything starts from, and a place to spoil copies of them."""

    def __init__(self, options, scratch):
        self.options, self.scratch, self.kizami = options, scratch, options.kizami
        # As another user it must be in reach.
        scratch.chmod(0o755)
        self.tmp = scratch / "tmp"
        self.tmp.mkdir()
        self.tmp.chmod(0o1777)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("KIZAMI_")}
        self.environment.update(TMPDIR=str(self.tmp), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(name, None)
        self.plain = self.compile("ring", [])
        self.sealed = self.record("sealed.kz", [self.plain])[0]
        self.other = self.record("other.kz", [self.plain, "3"])[0]
        self.raw, self.processes = self.record("raw.kz", [self.plain], "--no-seal")
        self.reduced = scratch / "reduced.kz"
        self.must(self.kizami, "reduce", self.sealed, "--keep", "20%", "--keep-all-below", "0", "-o", self.reduced)
        shutil.rmtree(self.sealed / "derived", ignore_errors=True)

    def must(self, *words):
        ended = self.do(*words, limits=False)
        if ended.code != 0:
            sys.exit(f"{shown(words)} failed:\n{ended.out.decode()}{ended.err.decode()}")
        return ended

    def do(self, *words, **how):
        how.setdefault("environment", self.environment)
        how.setdefault("cwd", self.scratch)
        return run(words, **how)

    def compile(self, name, flags):
        program = self.scratch / name
        self.must(f"mpicc.{self.options.mpi}", "-g", "-O1", f"-I{HEADERS}", *flags, "-o", program, HERE / "ring.c")
        return program

    def record(self, name, program, *flags, ranks=3, before=()):
        """A recording, and the process of each of its ranks."""
        path = self.scratch / name
        launcher = [f"mpirun.{self.options.mpi}"] + (["--oversubscribe"] if self.options.mpi == "openmpi" else [])
        ended = self.must(*before, self.kizami, "record", *flags, "-o", path, "--", *launcher, "-n", str(ranks), *program)
        found = re.findall(rb"rank (\d+) process (\d+)", ended.out)
        return path, {int(rank): int(process) for rank, process in found}

    def copy(self, trace, target, derived=False):
        remove(target)
        shutil.copytree(trace, target, symlinks=True, ignore=None if derived else shutil.ignore_patterns("derived"))
        return target


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def state_of(folder):
    """All that is below a folder: names, kinds, permissions and contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else zlib.crc32(path.read_bytes()) if path.is_file() else None
        found[str(path.relative_to(folder))] = (status.st_mode, content)
    return found


def difference(before, after):
    """One thing that is not as it was."""
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            how = "removed" if name not in after else "made" if name not in before else "changed"
            return f"{name} was {how}"
    return None
