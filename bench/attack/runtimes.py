"""Several OpenMP runtimes in a process, however they got in, and tools that programs bring for them.

Libraries that are linked each to a runtime of its own (copies of GNU's under other names, as Python packages have them,
LLVM's, Intel's) are loaded, in turn and in each other, by programs that have a runtime themselves or not. What the loader
binds a library to without Kizami is what counts: results, exit code and what a tool prints are as without it.

Needs patchelf, clang and libomp-19-dev. Intel's runtime is the file that ATTACK_LIBIOMP5 names (libiomp5.so of PyPI's
intel-openmp); without it those cases say nothing."""
import itertools
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from recording_bench import Failed, HERE, Skipped, check_same, run, short
from stacks import compilers

HANGS = 40  # seconds; each program takes less than one
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive", "OMP_SCHEDULE": "dynamic,3", "KMP_DUPLICATE_LIB_OK": "TRUE"}
GROUPS = ["loops", "tasks", "locks", "numbers"]
OPTIONS = ["auto", "tasks", "regions", "off"]


def runtimes(bench, _random):
    """Each arrangement with each MPI and without, and with each value of --openmp; of pairs, each group of constructs."""
    made = Made(bench)
    launches = ["alone", *bench.mpis]
    turns = itertools.count()
    for tried, title, arrange in arrangements(made):
        ways = [(launch, "auto") for launch in launches] + [("alone", option) for option in OPTIONS[1:]]
        if bench.small:
            turn = next(turns)
            ways = [(launches[turn % len(launches)], OPTIONS[turn // 3 % 4])]
        for launch, option in ways:
            yield tried, f"{title}; {launch}, --openmp {option}", \
                lambda folder, a=arrange, l=launch, o=option: compare(bench, made, folder, l, o, *a())
    for first, second in bench.times(PAIRS, PAIRS[:3]):
        for group in GROUPS:
            yield "constructs", f"{first}, {second}: {group}", \
                lambda folder, f=first, s=second, g=group: \
                compare(bench, made, folder, "alone", "auto", None, in_turn(made, [f, s], g))
    for title, arrange in tools(made):
        for launch in bench.times(launches, launches[:2]):
            yield "tools for OpenMP", f"{title}; {launch}", \
                lambda folder, a=arrange, l=launch: compare(bench, made, folder, l, "auto", *a())


def compare(bench, made, folder, launch, option, program, words, environment=None):
    """Runs a program bare and recorded; one that is not named is the one without OpenMP."""
    environment = ENVIRONMENT | (environment or {})
    if launch == "openmpi" and "flags=now,apart" in words:
        # pthread_key_create gives the same keys in each name space; one more key anywhere, and Open MPI frees another's.
        raise Skipped("Open MPI crashes at its end if anybody has made one more key for data of threads")
    if not isinstance(program, Path):
        program = (program or made.program())(launch)
    line = [program, *words] if launch == "alone" else bench.launch(launch, program, *words)
    bare = run_and_read(line, folder, environment)
    # ThreadSanitizer ends a program with 66 that has a race.
    if bare.code not in (0, 66):
        raise Skipped(f"exit code {bare.code}: {short(bare.printed + bare.told)}")
    recorded = run_and_read(bench.record(line, "--openmp", option), folder, environment)
    check_same(bare, recorded)
    # Where nothing was to be recorded, or could be, there is no trace, and whoever recorded was told so.
    if option != "off" and not bench.results_only and (folder / "run.kz").exists():
        check_told(bench.info(folder), recorded)


def run_and_read(line, folder, environment):
    """Runs a program; what ranks printed into files of their own is printed as well."""
    process = run(line, folder, environment, HANGS)
    for path in sorted(folder.glob("printed.*")):
        process.printed += path.read_text(errors="replace")
        path.unlink()
    return process


def check_told(info, recorded):
    """Regions that are not in the trace make it incomplete, unless none was to be recorded."""
    numbers = re.findall(r"^regions (\d+)", recorded.printed, re.MULTILINE)
    if not numbers:
        return  # It ended early, or it does not count.
    own = sum(map(int, numbers))
    told = re.search(r"([\d,]+) parallel region", recorded.told)
    told = int(told[1].replace(",", "")) if told else 0
    what = f"the program began {own} regions, recorded are {told}"
    if told > own:
        raise Failed(what)
    if told < own and info["health"]["complete"] and not info["health"]["problems"]:
        raise Failed(f"complete, and {what}")


# ---- arrangements ----------------------------------------------------------------------------------------------------

# In the order in which they are loaded.
PAIRS = [("gnu-1", "gnu-2"), ("gnu", "gnu-1"), ("foreign", "gnu-1"), ("gnu-1", "gnu"), ("gnu", "foreign"),
         ("foreign", "gnu"), ("llvm", "gnu"), ("gnu", "llvm"), ("gnu-1", "llvm"), ("llvm", "gnu-1"),
         ("llvm by gcc", "gnu"), ("gnu", "llvm by gcc"), ("llvm by gcc", "gnu-1"), ("llvm", "llvm-1"), ("llvm-1", "gnu-1"),
         ("intel", "gnu"), ("gnu", "intel"), ("intel by gcc", "gnu-1"), ("gnu-1", "intel by gcc"), ("llvm", "intel")]
NAMES = ["omp_get_max_threads", "omp_set_lock", "omp_set_nest_lock", "GOMP_parallel", "GOMP_critical_start", "GOMP_task"]
ASK = ["weak", *(f"ask={name}" for name in NAMES)]


def arrangements(made):
    """What is tried, its title, and what gives program, words and environment."""
    def turn(*runtimes, before=(), after=(), **of_parts):
        return lambda: (None, [*before, *in_turn(made, runtimes, "all", **of_parts), *after])

    for alone in ["gnu", "gnu-1", "foreign", "llvm", "llvm-1", "llvm by gcc", "intel", "intel by gcc"]:
        yield "one runtime", alone, turn(alone)
    for pair in PAIRS:
        yield "two runtimes", ", ".join(pair), turn(*pair)
    for three in [("gnu-1", "gnu-2", "foreign"), ("gnu", "llvm", "intel"), ("foreign", "llvm by gcc", "gnu")]:
        yield "three runtimes", ", ".join(three), turn(*three)
    for flags in ["lazy", "now,global", "lazy,global", "now,deepbind", "lazy,deepbind", "now,global,deepbind", "now,apart"]:
        for pair in [("gnu-1", "gnu-2"), ("gnu", "gnu-1"), ("foreign", "llvm")]:
            yield "ways to load", f"{', '.join(pair)} by {flags}", turn(*pair, before=[f"flags={flags}"])
    for flags in [["-Wl,-z,lazy"], ["-Wl,-z,now,-z,relro"], ["-fno-plt"], ["-Wl,-Bsymbolic"], ["-Wl,--hash-style=sysv"]]:
        yield "ways to link", f"gnu-1, gnu-2 with {' '.join(flags)}", turn("gnu-1", "gnu-2", flags=flags)
    yield from linked(made)
    yield from dependences(made)
    for first, second in [("gnu-1", "gnu-2"), ("gnu", "gnu-1"), ("gnu-1", "gnu"), ("llvm", "gnu"), ("gnu", "llvm"),
                          ("foreign", "gnu-1"), ("gnu", "intel")]:
        yield "locks by a tail call", f"of {second} in {first}", lambda f=first, s=second: tail(made, f, s)
        yield "locks by a tail call", f"of {second} in {first}, which is linked", lambda f=first, s=second: \
            (made.program(made.part("a", f)), ["near=a", f"tail=a={made.tail(s)}", "run=a=all", "inside=a=a"])
    for first, second in [("gnu-1", "gnu-2"), ("gnu", "gnu-1"), ("gnu", "llvm"), ("llvm", "gnu-1"), ("foreign", "gnu")]:
        for way in ["inside", "at-once"]:
            yield "regions in each other and at once", f"{way} {first}, {second}", lambda f=first, s=second, w=way: \
                (None, [f"load=a={made.part('a', f)}", f"load=b={made.part('b', s)}", f"{w}=a=b", f"{w}=b=a"])
    for pair in [("gnu-1", "gnu-2"), ("gnu", "foreign"), ("llvm", "gnu")]:
        yield "unloaded", ", ".join(pair), lambda p=pair: unloaded(made, p)
    yield "two runtimes", "llvm, intel, which is an error", lambda: \
        (Path("/bin/sh"), ["-c", '"$@"; echo ended with $?', "sh", made.program()("alone"),
                           *in_turn(made, ["llvm", "intel"], "all")], {"KMP_DUPLICATE_LIB_OK": "FALSE"})
    yield "programs that ask for a runtime", "none is there", lambda: (None, ASK)
    yield "programs that ask for a runtime", "gnu-1 is private", turn("gnu-1", before=ASK, after=ASK)
    yield "programs that ask for a runtime", "gnu-1 is global", turn("gnu-1", before=[*ASK, "flags=global"], after=ASK)
    yield "programs that ask for a runtime", "Python, gnu-1, gnu-2", lambda: python(made, ["gnu-1", "gnu-2"])
    yield "programs that ask for a runtime", "Python, gnu, llvm", lambda: python(made, ["gnu", "llvm"])


def in_turn(made, runtimes, group, **of_parts):
    """Loads libraries and has each work once it is there, and once more when all are."""
    names = "abc"[:len(runtimes)]
    first = [[f"load={name}={made.part(name, runtime, **of_parts)}", f"run={name}={group}"]
             for name, runtime in zip(names, runtimes)]
    return [*itertools.chain(*first), *(f"run={name}={group}" for name in names)]


def linked(made):
    """Libraries and runtimes that are there from the beginning."""
    for first, second in [("gnu-1", "gnu-2"), ("gnu-2", "gnu-1"), ("gnu", "gnu-1"), ("foreign", "gnu"), ("llvm", "gnu"),
                          ("gnu-1", "llvm")]:
        yield "linked", f"{first}, {second}", lambda f=first, s=second: \
            (made.program(made.part("a", f), made.part("b", s)), ["near=a", "near=b", "run=a=all", "run=b=all", "run=a=all"])
    for own, loaded in [("gnu", "gnu-1"), ("gnu-1", "gnu"), ("gnu-1", "gnu-2"), ("foreign", "gnu-1"), ("llvm", "gnu-1"),
                        ("gnu", "llvm"), ("static", "gnu-1"), ("static", "gnu")]:
        for flags in ["now", "now,deepbind"]:
            yield "programs with a runtime", f"{own}, loads {loaded} by {flags}", lambda o=own, l=loaded, f=flags: \
                (made.program(own=o), ["near=own", f"flags={f}", "run=own=all", f"load=a={made.part('a', l)}", "run=a=all",
                                       "run=own=all", "inside=own=a", "inside=a=own"])
    for flags in ["now", "now,deepbind"]:
        yield "programs with a runtime", f"stubs, loads gnu-1 by {flags}", lambda f=flags: \
            (made.program(stubs=True), [f"flags={f}", *in_turn(made, ["gnu-1"], "all"), *ASK])


def dependences(made):
    """A library that needs two others, each linked to a runtime of its own: the loader may bind both to the first."""
    for first, second in [("gnu-1", "gnu-2"), ("gnu-2", "gnu-1"), ("gnu", "gnu-1"), ("foreign", "gnu"), ("llvm", "gnu-1"),
                          ("gnu-1", "llvm")]:
        work = ["run=a=all", "run=b=all", "inside=a=b"]
        for flags in ["now,global", "lazy,global"]:
            yield "needed by another", f"{first}, {second} by {flags}", lambda f=first, s=second, g=flags, w=work: \
                (None, [f"flags={g}", f"load=c={made.needing(made.part('a', f), made.part('b', s))}", "near=a", "near=b", *w])
        yield "needed by another", f"{first}, {second}, linked", lambda f=first, s=second, w=work: \
            (made.program(made.needing(made.part("a", f), made.part("b", s))), ["near=a", "near=b", *w])


def tail(made, first, second):
    return None, [f"load=a={made.part('a', first)}", f"tail=a={made.tail(second)}", "run=a=locks",
                  f"load=b={made.part('b', second)}", "run=b=locks", "run=a=locks"]


def unloaded(made, pair):
    """Another library keeps the runtime: its threads do not end."""
    words = [f"load={name}={made.part(name, runtime)}" for name, runtime in zip("cd", pair)]
    for _ in range(3):
        for name, runtime in zip("ab", pair):
            words += [f"load={name}={made.part(name, runtime)}", f"run={name}=all", f"close={name}"]
    return None, [*words, "run=c=all", "run=d=all"]


def python(made, runtimes):
    script = made.folder / "parts.py"
    script.write_text("import ctypes, sys\n"
                      "for word in sys.argv[1:]:\n"
                      "    name, path = word.split('=')\n"
                      "    getattr(ctypes.CDLL(path), f'{name}_run')(b'all')\n"
                      "found = [hasattr(ctypes.CDLL(None), name) for name in ('omp_set_lock', 'GOMP_parallel')]\n"
                      "print('by name', found)\n")
    return Path(sys.executable), [script, *(f"{name}={made.part(name, runtime)}" for name, runtime in zip("ab", runtimes))]


def tools(made):
    """Tools that a program brings itself: it is theirs to know what happens, as without Kizami."""
    work = ["near=own", "run=own=all"]
    own = {"own": "llvm"}
    archer = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1:symbolize=0", "ARCHER_OPTIONS": "verbose=1"}
    yield "OMP_TOOL_LIBRARIES", lambda: (made.program(**own), work, {"OMP_TOOL_LIBRARIES": str(made.tool())})
    yield "OMP_TOOL_LIBRARIES, the second of which is one", lambda: \
        (made.program(**own), work, {"OMP_TOOL_LIBRARIES": f"/nowhere/libtool.so:{made.tool()}"})
    yield "OMP_TOOL_LIBRARIES without a tool", lambda: \
        (made.program(**own), work, {"OMP_TOOL_LIBRARIES": "/nowhere/libtool.so"})
    yield "OMP_TOOL=disabled", lambda: \
        (made.program(**own), work, {"OMP_TOOL": "disabled", "OMP_TOOL_LIBRARIES": str(made.tool())})
    yield "a tool in the program", lambda: (made.program(tool=True, **own), work)
    yield "a tool that is linked", lambda: (made.program(made.tool(), **own), work)
    yield "a tool that is preloaded", lambda: (made.program(**own), work, {"LD_PRELOAD": str(made.tool())})
    yield "OMP_TOOL_LIBRARIES, Intel's runtime", lambda: \
        (made.program(own="intel"), work, {"OMP_TOOL_LIBRARIES": str(made.tool())})
    yield "OMP_TOOL_LIBRARIES, two runtimes", lambda: \
        (None, in_turn(made, ["llvm", "llvm-1"], "all"), {"OMP_TOOL_LIBRARIES": str(made.tool())})
    yield "OMP_TOOL_LIBRARIES, also GNU's", lambda: \
        (None, in_turn(made, ["gnu-1", "llvm"], "all"), {"OMP_TOOL_LIBRARIES": str(made.tool())})
    for words in ["clean", "race"]:
        yield f"Archer where LLVM's runtime looks for it, {words}", lambda w=words: \
            (made.races, [w], archer | {"LD_LIBRARY_PATH": str(made.llvm())})
        yield f"Archer by OMP_TOOL_LIBRARIES, {words}", lambda w=words: \
            (made.races, [w], archer | {"OMP_TOOL_LIBRARIES": str(made.llvm() / "libarcher.so")})


# ---- what is built ---------------------------------------------------------------------------------------------------

class Made:
    """Runtimes under other names, libraries and programs, each made once."""

    def __init__(self, bench):
        self.bench, self.folder, self.done = bench, bench.folder / "runtimes", {}

    def make(self, path, *command, environment=None):
        """Runs a command that makes a file, unless it is there."""
        if path not in self.done:
            path.parent.mkdir(parents=True, exist_ok=True)
            made = run(command, self.folder, environment)
            if made.code != 0:
                sys.exit(f"{shlex.join(made.words)} failed:\n{made.told}")
            self.done[path] = True
        return path

    def clang(self):
        found = [name for name in compilers() if name != "gcc"]
        if not found:
            raise Skipped("clang is not installed")
        return found[0]

    def llvm(self):
        """The folder of LLVM's runtime and its tools."""
        path = Path(run([self.clang(), "-print-file-name=libomp.so"], self.bench.folder).printed.strip())
        if not path.is_absolute():
            raise Skipped("LLVM's OpenMP runtime is not installed")
        return path.resolve().parent

    def copy(self, original, name):
        """A runtime under another name, as packages for Python have them."""
        if not shutil.which("patchelf"):
            raise Skipped("patchelf is not installed")
        path = self.folder / name
        if path not in self.done:
            self.folder.mkdir(exist_ok=True)
            shutil.copy(original, path)
        return self.make(path, "patchelf", "--set-soname", name, path)

    def runtime(self, name):
        """The compiler for a runtime, and its file."""
        gnu = Path(run(["gcc", "-print-file-name=libgomp.so.1"], self.bench.folder).printed.strip())
        match name:
            case "gnu":
                return "gcc", gnu
            case "gnu-1":
                return "gcc", self.copy(gnu, "libgomp-1a2b3c4d.so.1.0.0")
            case "gnu-2":
                return "gcc", self.copy(gnu, "libgomp-5e6f7a8b.so.1.0.0")
            case "foreign":
                return "gcc", self.copy(gnu, "librt_foo.so")
            case "static":
                return "gcc", Path(run(["gcc", "-print-file-name=libgomp.a"], self.bench.folder).printed.strip())
            case "llvm" | "llvm by gcc":
                return self.clang() if name == "llvm" else "gcc", self.llvm() / "libomp.so.5"
            case "llvm-1":
                return self.clang(), self.copy(self.llvm() / "libomp.so.5", "libomp-9c0d1e2f.so")
            case "intel" | "intel by gcc":
                path = os.environ.get("ATTACK_LIBIOMP5")
                if not path:
                    raise Skipped("ATTACK_LIBIOMP5 does not name Intel's runtime")
                return self.clang() if name == "intel" else "gcc", Path(path).resolve()

    def object(self, source, name, compiler, *flags):
        return self.make(self.folder / f"{name}.o", compiler, "-c", "-g", "-O2", "-fPIC", "-pthread", "-fopenmp", *flags,
                         HERE / f"{source}.c", "-o", self.folder / f"{name}.o")

    def with_runtime(self, source, name, runtime, *flags):
        """A library of a source that is linked to a runtime."""
        compiler, file = self.runtime(runtime)
        path = self.folder / f"lib{name}.so"
        compiled = self.object(source, name, compiler, *(flag for flag in flags if not flag.startswith("-Wl")))
        return self.make(path, "gcc", "-shared", compiled, "-o", path, *flags, "-Wl,--no-as-needed", file,
                         f"-Wl,-rpath,{file.parent}", "-ldl")

    def part(self, prefix, runtime, flags=()):
        name = "-".join(["part", prefix, runtime.replace(" ", "-"), *(re.sub(r"\W+", "_", flag) for flag in flags)])
        return self.with_runtime("runtimes_part", name, runtime, f"-DPREFIX={prefix}", *flags)

    def tail(self, runtime):
        return self.with_runtime("runtimes_tail", f"tail-{runtime.replace(' ', '-')}", runtime)

    def needing(self, *libraries):
        """A library with nothing in it that needs others."""
        path = self.folder / ("libneeding-" + "-".join(library.stem for library in libraries) + ".so")
        return self.make(path, "gcc", "-shared", "-o", path, "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{self.folder}")

    def tool(self):
        path = self.folder / "libtool.so"
        return self.make(path, self.clang(), "-shared", "-fPIC", "-O1", "-fopenmp", HERE / "runtimes_tool.c", "-o", path)

    def program(self, *libraries, own=None, stubs=False, tool=False):
        """What gives the program of a launch: linked to libraries, with a runtime of its own, with stubs, with a tool."""
        words = ["runtimes", *(library.stem for library in libraries), own or "", "stubs" * stubs, "tool" * tool]
        flags, last = ["-DSTUBS"] * stubs, []
        if own:
            compiler, file = self.runtime(own)
            flags += [self.object("runtimes_part", f"own-{own}", compiler, "-DPREFIX=own")]
            last = [file, f"-Wl,-rpath,{file.parent}"]
        if tool:
            flags += [self.object("runtimes_tool", "tool", self.clang())]
        return lambda launch: self.linked("runtimes", launch, "-".join(filter(None, words)), "gcc", *flags, "-rdynamic",
                                          "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{self.folder}", *last, "-ldl")

    def races(self, launch):
        return self.linked("runtimes_races", launch, "races", self.clang(), "-fsanitize=thread", "-fopenmp")

    def linked(self, source, launch, name, compiler, *flags):
        path = self.folder / launch / name
        through = [compiler] if launch == "alone" else [f"mpicc.{launch}", "-DWITH_MPI"]
        return self.make(path, *through, "-g", "-O1", "-pthread", HERE / f"{source}.c", "-o", path, *flags,
                         environment={"OMPI_CC": compiler, "MPICH_CC": compiler})
