#!/usr/bin/env python3
"""Whether two builds of kizami say and write the same about the golden traces, byte for byte.

    bench/golden_equal.py BEFORE AFTER [--only TRANSCRIPT] [--keep DIR]

BEFORE and AFTER are kizami commands. Each line of crates/show/cli/tests/golden/commands.txt is run with both, on copies of the
traces, in a folder of the same name; standard output, standard error, exit code and every file written are compared.
Prints what differs, and ends with 1 if something does. --keep keeps all results in DIR/before and DIR/after for `diff -r`.

The one thing that always differs is left out: OTF2's library puts a random number into the anchor file of an archive.
"""
import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "crates/show/cli/tests/golden"
RANDOM = {"traces.otf2"}


def sources():
    """Where each trace lies, as a folder or packed."""
    folders = sorted(GOLDEN.glob("schema-*")) + [GOLDEN / "broken"]
    found = {path.name: path for folder in folders for path in folder.glob("*.kz")}
    packed = {path.name.removesuffix(".tar.gz") + ".kz": path for path in GOLDEN.glob("schema-*/*.tar.gz")}
    return found, packed


def transcripts(sealed):
    """The command lines of each transcript, in order."""
    lines = {}
    for line in (GOLDEN / "commands.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        names, _, chain = line.partition(":")
        names = sealed if names == "every" else [name.strip() for name in names.split(",")]
        for name in names:
            lines.setdefault(name, []).append(chain.strip().replace("RUN", name))
    return lines


class Place:
    """A folder in which the commands of one transcript run."""

    def __init__(self, kizami, folder, found, packed):
        self.kizami, self.folder, self.found, self.packed = kizami, Path(folder), found, packed

    def run(self, chain):
        """What a line of commands prints and writes, by name of the stream or file."""
        result = {}
        for number, command in enumerate(chain.split("&&")):
            words = command.split()
            for word in words:
                self.bring(word)
            environment = {key: value for key, value in os.environ.items() if not key.startswith("KIZAMI_")}
            done = subprocess.run([self.kizami, *words], cwd=self.folder, env=environment, capture_output=True,
                                  stdin=subprocess.DEVNULL)
            streams = {"stdout": done.stdout, "stderr": done.stderr, "code": str(done.returncode).encode()}
            result |= {f"{number}.{name}": content for name, content in streams.items()}
        return result | self.take_written()

    def bring(self, word):
        target = self.folder / word
        if target.exists():
            return
        if word in self.found:
            shutil.copytree(self.found[word], target)
        elif word in self.packed:
            with tarfile.open(self.packed[word]) as archive:
                archive.extractall(self.folder, filter="data")

    def take_written(self):
        written = {}
        for path in sorted(self.folder.iterdir()):
            if path.name in self.found or path.name in self.packed:
                continue
            files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]
            files = [file for file in files if "derived" not in file.parts and file.name not in RANDOM]
            written |= {str(file.relative_to(self.folder)): file.read_bytes() for file in files}
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return written


def show(name, before, after):
    if before is None or after is None:
        print(f"    {name}: only {'after' if before is None else 'before'}")
        return
    try:
        texts = [content.decode().splitlines() for content in (before, after)]
    except UnicodeDecodeError:
        print(f"    {name}: {len(before)} and {len(after)} bytes that differ")
        return
    changes = list(difflib.unified_diff(*texts, lineterm="", n=0))[2:]
    print(f"    {name}:")
    for change in changes[:20]:
        print(f"        {change[:200]}")
    if len(changes) > 20:
        print(f"        and {len(changes) - 20} more lines")


def keep(folder, name, number, result):
    for key, content in result.items():
        path = folder / name / f"{number:03}" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--only", metavar="TRANSCRIPT")
    parser.add_argument("--keep", metavar="DIR", type=Path)
    arguments = parser.parse_args()
    found, packed = sources()
    sealed = sorted(path.parent.name.removesuffix(".kz") for path in GOLDEN.glob("schema-*/*.kz/run.json"))
    compared = differing = 0
    for name, lines in transcripts(sealed).items():
        if arguments.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as after:
            sides = [Place(arguments.before.resolve(), before, found, packed),
                     Place(arguments.after.resolve(), after, found, packed)]
            for number, line in enumerate(lines):
                first, second = (side.run(line) for side in sides)
                compared += 1
                if arguments.keep:
                    keep(arguments.keep / "before", name, number, first)
                    keep(arguments.keep / "after", name, number, second)
                if first != second:
                    differing += 1
                    print(f"{name}: kizami {line}")
                    for key in sorted(first.keys() | second.keys()):
                        if first.get(key) != second.get(key):
                            show(key, first.get(key), second.get(key))
    print(f"{compared} command lines compared, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
