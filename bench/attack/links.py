"""Links and races around traces and outputs, and the permissions of what is made."""
import ctypes
import os
import shutil
import threading
from pathlib import Path

from reading_bench import Attack, difference, remove, shown, state_of

OUTPUTS = {
    "report": ["--html", "{}.html"],
    "view": ["--png", "{}.png"],
    "view ": ["--snapshot", "{}.html"],
    "export": ["--to", "csv", "-o", "{}.csv"],
    "export ": ["--to", "perfetto", "-o", "{}.pftrace"],
    "export  ": ["--to", "otf2", "-o", "{}-otf2"],
    "replay": ["--network", "ideal", "-o", "{}.kz"],
    "reduce": ["--keep", "20%", "--keep-all-below", "0", "-o", "{}.kz"],
    "undisturb": ["-o", "{}.kz"],
}
IN_DERIVED = ["graph.bin", "view.bin", "verdict.bin", "verdict.json", "drawn.kz", "drawn.kz.key", "graph.bin.tmp", "view.bin.tmp",
              ".tmpAAAAAA.tmp", "drawn-AAAAAA"]
IN_TRACE = ["events", "events/part-00000.parquet", "defs", "defs/ranks.parquet", "regions", "run.json", "sealing.tmp",
            "raw-removed.tmp", "clocks.parquet", "derived.tmp"]


def link_layouts(chance, bench):
    """One layout after the other: a name, what it is made of, the command, and what it may write."""
    kinds = ["derived", "in derived", "in trace", "raw", "in raw", "tmp", "output", "hard"]
    number = 0
    while True:
        kind = kinds[number % len(kinds)]
        number += 1
        command = chance.choice(["report"] + list(OUTPUTS)) if kind not in ("raw", "in raw") else "seal"
        if kind == "in trace" and chance.random() < 0.4:
            command = "seal"
        if kind == "tmp":
            # Those that use TMPDIR.
            command = chance.choice(["doctor", "report", "view"])
        yield kind, command


def lay_links(kind, command, root, chance, bench):
    """Makes the layout below a root; gives the trace, and a word for what was linked."""
    outside = root / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("precious")
    (outside / "folder" / "file").write_text("precious")
    (root / "tmp").mkdir()
    for name in ("graph.bin", "view.bin", "drawn.kz"):
        (outside / "folder" / name).write_text("precious")
    source = bench.raw if command == "seal" and kind != "in trace" else \
        bench.kept_raw if command == "seal" else chance.choice([bench.sealed, bench.reduced])
    if kind == "tmp":
        # What is not sealed is read by way of TMPDIR.
        source = chance.choice([bench.raw, bench.reduced])
    trace = bench.copy(source, root / "run.kz")
    target = chance.choice([outside / "file", outside / "folder", outside / "new", outside / "folder" / "file"])
    if kind == "derived":
        where = trace / "derived"
        target = chance.choice([outside / "folder", outside / "new", outside / "file", outside])
    elif kind in ("in derived", "hard"):
        (trace / "derived").mkdir()
        where = trace / "derived" / chance.choice(IN_DERIVED)
    elif kind == "in trace":
        where = trace / chance.choice(IN_TRACE)
        # What is there already is moved outside and linked, so that the trace can still be read.
        if where.exists():
            target = outside / "moved"
            shutil.move(where, target)
    elif kind == "raw":
        where, target = trace / "raw", outside / "raw"
        shutil.move(where, target)
    elif kind == "in raw":
        where = chance.choice(sorted((trace / "raw").iterdir()))
        target = outside / where.name
        shutil.move(where, target)
    elif kind == "tmp":
        where = root / "tmp" / chance.choice(["kizami-snapshot-4194400-AAAAAA", "kizami-doctor", ".tmpAAAAAA", "drawn-AAAAAA"])
    else:
        where = None
    if kind == "hard":
        target = outside / "file"
        os.link(target, where)
    elif where is not None:
        where.symlink_to(target)
    return trace, where, target


def link_command(bench, command, root, trace):
    name = command.strip()
    words = [bench.kizami, name, trace]
    output = None
    if name == "doctor":
        return words[:2], None
    if command in OUTPUTS and not (name == "report" and len(str(trace)) % 2):
        words += [word.format(root / "out") for word in OUTPUTS[command]]
        output = Path(words[-1])
    return words, output


def links(bench):
    """Links of all kinds below a trace, below TMPDIR and where output goes: nothing outside may be written or removed."""
    attack = Attack("links", "symbolic and hard links below traces, TMPDIR and outputs", bench.options)
    bench.kept_raw = bench.record("kept.kz", [bench.plain], "--keep-raw")[0]
    layouts = link_layouts(bench.chance, bench)
    answered = {}
    for number in range(bench.options.count(100, 10) * 4):
        kind, command = next(layouts)
        root = bench.scratch / f"links-{number}"
        root.mkdir()
        trace, where, target = lay_links(kind, command, root, bench.chance, bench)
        words, output = link_command(bench, command, root, trace)
        if kind == "output":
            output = output or root / "out.html"
            if "--html" not in words and len(words) == 3:
                words += ["--html", output]
            output.symlink_to(target)
        before, beside = state_of(root / "outside"), set(os.listdir(root))
        temporary = set(os.listdir(root / "tmp"))
        ended = bench.do(*words, environment=dict(bench.environment, TMPDIR=str(root / "tmp")))
        answered[kind] = [count + add for count, add in zip(answered.get(kind, [0, 0]), [ended.code == 0, 1])]
        wrong = ended.wrong() or difference(before, state_of(root / "outside"))
        new = set(os.listdir(root)) - beside - {output.name if output else ""}
        left = set(os.listdir(root / "tmp")) - temporary
        if not wrong and new:
            wrong = f"{sorted(new)[0]} was made beside the trace"
        if not wrong and left:
            wrong = f"{sorted(left)[0]} was left in TMPDIR"
        linked = f"{where.relative_to(root) if where else output.name} -> {target.relative_to(root)}"
        attack.case(wrong and f"{kind} {linked}, {shown(words[1:2])}: {wrong}", shown(words), [root])
        shutil.rmtree(root, ignore_errors=True)
    # A command that refuses at once attacks nothing.
    attack.note("did their work: " + ", ".join(f"{kind} {done} of {all_}" for kind, (done, all_) in answered.items()))
    return [attack.end(), link_races(bench), permissions(bench)]


RENAME_EXCHANGE = 2
AT_HERE = -100


def exchange(one, other):
    """Two names change places in one step."""
    ctypes.CDLL(None).renameat2(AT_HERE, os.fsencode(one), AT_HERE, os.fsencode(other), RENAME_EXCHANGE)


def swap_until(done, kind, swapped, aside, outside):
    while not done.is_set():
        if kind == "derived":
            exchange(swapped, aside)
            continue
        try:
            swapped.symlink_to(outside / "new")
            swapped.unlink()
        except OSError:
            # The command was faster; what it made is taken away again.
            swapped.unlink(missing_ok=True)


def link_races(bench):
    """A folder and a link to another change places all the time while a command works."""
    attack = Attack("links raced", "derived/, what is in it, and outputs change places with links while commands run", bench.options)
    for number in range(bench.options.count(100, 10)):
        root = bench.scratch / f"race-{number}"
        outside = root / "outside"
        (root / "tmp").mkdir(parents=True)
        outside.mkdir()
        (outside / "graph.bin").write_text("precious")
        (outside / "view.bin").write_text("precious")
        trace = bench.copy(bench.chance.choice([bench.sealed, bench.reduced]), root / "run.kz")
        (trace / "derived").mkdir()
        kind = ["derived", "output", "file"][number % 3]
        words = [bench.kizami, "report", trace] if number % 2 else [bench.kizami, "view", trace, "--png", root / "out.png"]
        swapped = {"derived": trace / "derived", "output": root / "out.png", "file": trace / "derived" / "graph.bin"}[kind]
        aside = root / "aside"
        aside.symlink_to(outside if kind == "derived" else outside / "graph.bin")
        before = state_of(outside)
        wrong = None
        for _ in range(bench.options.count(20, 8)):
            done = threading.Event()
            thread = threading.Thread(target=swap_until, args=(done, kind, swapped, aside, outside))
            thread.start()
            ended = bench.do(*words, environment=dict(bench.environment, TMPDIR=str(root / "tmp")))
            # Nothing may be looked at or tidied up while names still change places.
            done.set()
            thread.join()
            wrong = wrong or ended.wrong() or difference(before, state_of(outside))
            remove(root / "out.png")
            folder = aside if (trace / "derived").is_symlink() else trace / "derived"
            for kept in folder.iterdir():
                remove(kept)
        attack.case(wrong and f"{kind} raced, {words[1]}: {wrong}",
                    f"reading.py --only links (a race: {swapped.relative_to(root)} and a link to outside/ change places) {shown(words)}",
                    [root])
        shutil.rmtree(root, ignore_errors=True)
    return attack.end()


def permissions(bench):
    """What new traces and outputs may be done with by others: never more than the umask allows."""
    attack = Attack("permissions", "new traces and outputs under umask 0000, 0022 and 0077", bench.options)
    for mask in (0o000, 0o022, 0o077):
        under = ["sh", "-c", f'umask {mask:04o}; exec "$@"', "sh"]
        path = bench.record(f"umask-{mask:03o}.kz", [bench.plain], "--keep-raw", before=under)[0]
        outputs = bench.scratch / f"umask-{mask:03o}"
        outputs.mkdir()
        for command, words in OUTPUTS.items():
            bench.must(*under, bench.kizami, command.strip(), path, *[word.format(outputs / command.replace(" ", "_")) for word in words])
        modes = {}
        for base in (path, outputs):
            for found in [path, *base.rglob("*")]:
                what = "folders" if found.is_dir() else "segments" if found.parent.name == "raw" else \
                    "derived" if "derived" in found.parts else "tables" if found.is_relative_to(path) else "outputs"
                mode = found.stat().st_mode & 0o7777
                modes.setdefault(what, set()).add(mode)
                attack.case(mode & mask and f"umask {mask:04o}: {found.relative_to(bench.scratch)} is {mode:04o}",
                            f"umask {mask:04o}; kizami record ...", [])
        told = "; ".join(f"{what} {'/'.join(f'{mode:04o}' for mode in sorted(found))}" for what, found in sorted(modes.items()))
        attack.note(f"umask {mask:04o}: {told}")
        shutil.rmtree(path)
        shutil.rmtree(outputs)
    return attack.end()


# ----------------------------------------------------------------------------------------------------------------- caches
