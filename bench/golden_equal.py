#!/usr/bin/env python3
"""Whether two builds of kizami print and write the same about the golden traces, byte for byte.

    bench/golden_equal.py BEFORE AFTER [--only TRANSCRIPT] [--keep DIR] [--numbers]

BEFORE and AFTER are kizami commands. Each line of crates/show/cli/tests/golden/commands.txt is run with both, on copies of the
traces, in a folder of the same name; standard output, standard error, exit code and every file written are compared.
Prints what differs, and ends with 1 if something does. --keep keeps all results in DIR/before and DIR/after for `diff -r`.
--numbers is for a change of words: of JSON it compares all keys and all values but texts, of CSV and other files every byte,
and of text, pages and pictures only the numbers in them.

The one thing that always differs is left out: OTF2's library puts a random number into the anchor file of an archive.
"""
import argparse
import difflib
import json
import os
import re
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


NUMBER = re.compile(r"\d[\d,.]*\d|\d")
# Sizes and names in pages and pictures follow from the words in them.
WORDED = (".html", ".svg", ".png", ".1")


def without_texts(value):
    """A value of JSON with a mark for each text."""
    if isinstance(value, dict):
        return {key: without_texts(one) for key, one in value.items()}
    if isinstance(value, list):
        # Equally good changes are sorted by their words.
        return sorted((without_texts(one) for one in value), key=repr)
    return "text" if isinstance(value, str) else value


def numbers(result):
    """What a change of words leaves as it is."""
    kept = {}
    for name, content in result.items():
        if name.endswith(WORDED):
            kept[name] = "written"
            continue
        try:
            text = content.decode()
        except UnicodeDecodeError:
            kept[name] = content
            continue
        try:
            decoder, values, at = json.JSONDecoder(), [], 0
            while text[at:].strip():
                at += len(text[at:]) - len(text[at:].lstrip())
                value, at = decoder.raw_decode(text, at)
                values.append(without_texts(value))
            kept[name] = sorted(values, key=repr)
        except json.JSONDecodeError:
            streams = name.endswith((".stdout", ".stderr"))
            kept[name] = sorted(NUMBER.findall(text)) if streams else content
    return kept


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
    parser.add_argument("--numbers", action="store_true")
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
                ours, theirs = (numbers(first), numbers(second)) if arguments.numbers else (first, second)
                if ours != theirs:
                    differing += 1
                    print(f"{name}: kizami {line}")
                    for key in sorted(first.keys() | second.keys()):
                        if ours.get(key) != theirs.get(key):
                            show(key, first.get(key), second.get(key))
    print(f"{compared} command lines compared, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
