"""What is kept beside a trace: spoiled, forged, of another run, or without room."""
import os
import shutil
import signal
import struct
import zlib

from links import OUTPUTS
from reading_bench import Attack, HEAD_WORDS, NOBODY, last_line, remove, shown
from viewer import Viewer, viewer


def spoil(data, chance, others):
    """Other contents of a kept file, and what was done to it."""
    how = chance.choice(["flip", "flip", "flip", "flips", "cut", "longer", "zeros", "noise", "other", "empty"])
    data = bytearray(data)
    if how in ("flip", "flips") and data:
        places = [chance.randrange(len(data)) for _ in range(1 if how == "flip" else chance.randrange(2, 40))]
        for at in places:
            data[at] ^= 1 << chance.randrange(8)
        how = f"{len(places)} bits flipped, first at byte {places[0]}"
    elif how == "cut":
        del data[chance.randrange(len(data) + 1):]
    elif how == "longer":
        data += chance.randbytes(chance.randrange(1, 5000))
    elif how == "zeros" and data:
        at = chance.randrange(len(data))
        length = min(len(data) - at, chance.choice([8, 64, 4096]))
        data[at:at + length] = bytes(length)
    elif how == "noise":
        data = bytearray(chance.randbytes(len(data)))
    elif how == "other":
        data = bytearray(chance.choice(others))
    elif how == "empty":
        data = bytearray()
    return bytes(data), how


def forge(data, chance):
    """Other contents under a checksum that is right: what somebody makes who knows the format."""
    if not data.startswith(b"kizcache"):
        return None, ""
    data = bytearray(data)
    extreme = [0, 1, 7, 63, 64, (1 << 31) - 1, (1 << 32) - 1, 1 << 33, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    words = []
    for _ in range(chance.choice([1, 1, 2, 4])):
        # Not what says which file it is, nor the checksum.
        place = chance.randrange(4, HEAD_WORDS - 1) if chance.random() < 0.3 else chance.randrange(HEAD_WORDS, max(HEAD_WORDS + 1, len(data) // 8))
        if 8 * place + 8 > len(data):
            continue
        value = chance.choice(extreme) if chance.random() < 0.7 else chance.getrandbits(64)
        struct.pack_into("<Q", data, 8 * place, value)
        words.append(place)
    # Of the head without the checksum, and of all behind it.
    head = zlib.crc32(bytes(data[:8 * (HEAD_WORDS - 1)]))
    struct.pack_into("<Q", data, 8 * (HEAD_WORDS - 1), zlib.crc32(bytes(data[8 * HEAD_WORDS:]), head))
    return bytes(data), f"words {words} forged, checksum right"


def answer_of(bench, command, trace, **how):
    """What a command has to say: all it prints, and what it writes. How long things took is no part of it."""
    output = bench.scratch / "answer"
    remove(output)
    words = [bench.kizami, command[0], trace, *[str(output) if word == "OUT" else word for word in command[1:]]]
    ended = bench.do(*words, **how)
    written = output.read_bytes() if output.is_file() else b""
    return ended, ended.out, written, words


def lay_kept(trace, files):
    """Puts files into derived/; those that are there and the same stay."""
    for name, content in files.items():
        path = trace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            remove(path)
            path.write_bytes(content)


# Which commands read what is kept under which name.
READERS = {
    "graph.bin": [["report"]],
    "view.bin": [["view", "--png", "OUT"]],
    "verdict.bin": [["view", "--snapshot", "OUT"]],
}


def caches(bench):
    """Whatever lies in derived/, answers are those without it."""
    results = []
    full = {}
    for base in (bench.sealed, bench.other, bench.reduced):
        # The folder has one name for all, since answers name it.
        trace = bench.copy(base, bench.scratch / base.stem / "run.kz")
        for command in ([["report"], ["view", "--png", "OUT"], ["view", "--snapshot", "OUT"]]):
            answer_of(bench, command, trace)
        full[base.stem] = {path.relative_to(trace): path.read_bytes() for path in (trace / "derived").rglob("*") if path.is_file()}
    others = [content for name in full for content in full[name].values()]
    for how in ("spoiled", "forged"):
        attack = Attack(f"caches {how}", {
            "spoiled": "bits flipped, files cut, filled or taken from other runs, in derived/",
            "forged": "numbers changed in files of derived/ under a checksum that is right",
        }[how], bench.options)
        expected = {}
        differing = {}
        number = others_told = 0
        while number < bench.options.count(10000, 75):
            base = bench.chance.choice(["sealed", "sealed", "reduced"])
            trace = bench.scratch / base / "run.kz"
            relative = bench.chance.choice(sorted(full[base]))
            commands = READERS.get(relative.name, [["report"], ["view", "--png", "OUT"]])
            command = bench.chance.choice(commands)
            key = (base, *command)
            if key not in expected:
                shutil.rmtree(trace / "derived", ignore_errors=True)
                expected[key] = answer_of(bench, command, trace)[1:3]
                again = answer_of(bench, command, trace)[1:3]
                if again != expected[key]:
                    attack.note(f"{shown(command)} of {base} answers differently with what it keeps itself")
            original = full[base][relative]
            content, what = spoil(original, bench.chance, others) if how == "spoiled" else forge(original, bench.chance)
            if content is None or content == original:
                continue
            number += 1
            lay_kept(trace, {**full[base], relative: content})
            ended, out, written, words = answer_of(bench, command, trace, patience=15)
            wrong = ended.wrong()
            if not wrong and (out, written) != expected[key]:
                # Who can make a checksum that is right can change the trace as well; damage must never show.
                others_told += 1
                wrong = how == "spoiled" and f"another answer than without it (exit code {ended.code})"
            differing[str(relative)] = differing.get(str(relative), 0) + bool(wrong)
            if wrong:
                # What the command may have put in its place is not what failed.
                lay_kept(trace, {**full[base], relative: content})
            attack.case(wrong and f"{base}.kz, {relative}, {what}: {wrong}", shown(words), [trace] if wrong else [])
        attack.note(f"{others_told} answered something else than without it")
        attack.note("failed by file: " + ", ".join(f"{name} {count}" for name, count in sorted(differing.items()) if count))
        results.append(attack.end())
    return results + [no_room(bench)]


def all_commands(trace, out):
    """Every command that reads a trace, and what each writes."""
    for words in (["info"], ["info", "--json"], ["report"], ["report", "--json"], ["report", "--markdown"], ["report", "--memory", "256M"],
                  ["whatif"], ["events"], ["clocks"], ["replay"], ["diff", trace]):
        yield [words[0], trace, *words[1:]]
    for number, (command, words) in enumerate(OUTPUTS.items()):
        yield [command.strip(), trace, *[word.format(out / str(number)) for word in words]]


def no_room(bench):
    """derived/ cannot be written to, or its file system is full: everything works, and nothing is left behind."""
    attack = Attack("caches no room", "every command with a derived/ that is not ours, or full", bench.options)
    is_root = os.geteuid() == 0
    kizami = bench.kizami
    if is_root:
        # Another user may not reach the original.
        kizami = bench.scratch / "kizami"
        if not kizami.exists():
            shutil.copy2(bench.kizami, kizami)
            kizami.chmod(0o755)
    can_mount = is_root and bench.do("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", bench.tmp, limits=False).code == 0
    if not can_mount:
        attack.note("full file systems left out: they need root, and leave to mount")
    for base in (bench.sealed, bench.reduced, bench.raw):
        # Some commands refuse some traces, whatever is in derived/.
        root = bench.scratch / "room"
        shutil.rmtree(root, ignore_errors=True)
        (root / "out").mkdir(parents=True)
        trace = bench.copy(base, root / "run.kz")
        usual = {(shown(words[2:]), words[0]): bench.do(kizami, *words).code for words in all_commands(trace, root / "out")}
        for kind in ("unwritable", "unmade", "full"):
            if kind == "full" and not can_mount or base == bench.raw and kind != "unwritable":
                continue
            root = bench.scratch / "room"
            shutil.rmtree(root, ignore_errors=True)
            (root / "out").mkdir(parents=True)
            (root / "tmp").mkdir()
            trace = bench.copy(base, root / "run.kz")
            # Traces are for their owners alone; the other user is one who was let in.
            for path in (trace, *trace.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
            if kind != "unmade":
                (trace / "derived").mkdir(exist_ok=True)
            if is_root and kind != "full":
                for folder in (root / "out", root / "tmp"):
                    os.chown(folder, NOBODY, NOBODY)
                before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            elif kind == "full":
                # Room for nothing but its own folder; the mount is seen by this command only.
                script = 'mount -t tmpfs -o size=4k,nr_inodes=64 tmpfs "$0" && { head -c 4096 /dev/zero > "$0/filler"; exec "$@"; }'
                before = ["unshare", "-m", "sh", "-c", script, trace / "derived"]
            else:
                for folder in (trace, trace / "derived"):
                    if folder.exists():
                        folder.chmod(0o555)
                before = []
            for words in all_commands(trace, root / "out"):
                command = [*before, kizami, *words]
                ended = bench.do(*command, environment=dict(bench.environment, TMPDIR=str(root / "tmp"), HOME=str(root / "out")))
                wrong = ended.wrong()
                if not wrong and ended.code != usual[shown(words[2:]), words[0]]:
                    wrong = f"ended with {ended.code}: {last_line(ended.err)}"
                left = sorted(os.listdir(root / "tmp"))
                if left and not wrong:
                    wrong = f"left {len(left)} things in TMPDIR, such as {left[0]}"
                for name in left:
                    remove(root / "tmp" / name)
                attack.case(wrong and f"{base.name}, derived/ {kind}, {words[0]} {shown(words[2:])}: {wrong}", shown(command), [trace])
            if not is_root:
                trace.chmod(0o755)
            # A viewer that is ended by Ctrl-C cleans up as well.
            if kind != "full":
                wrong = viewer_leaves(bench, [*before, kizami], trace, root / "tmp")
                attack.case(wrong and f"{base.name}, derived/ {kind}, view until Ctrl-C: {wrong}",
                            shown([*before, "kizami", "view", "--no-open", trace]) + "   then Ctrl-C", [])
            shutil.rmtree(root, ignore_errors=True)
    return attack.end()


def viewer_leaves(bench, kizami, trace, tmp):
    viewer = Viewer(bench, trace, kizami=kizami, environment={"TMPDIR": str(tmp)})
    try:
        for question in ("/api/run", "/api/timeline", "/api/verdict", "/api/parallelism"):
            viewer.ask(question)
    finally:
        viewer.end(signal.SIGINT)
    left = sorted(os.listdir(tmp))
    for name in left:
        remove(tmp / name)
    return f"left {len(left)} things in TMPDIR, such as {left[0]}" if left else None
