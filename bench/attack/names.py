"""Names in a trace that a terminal, a spreadsheet or a browser would obey."""
import csv
import html.parser
import io
import json
import re

from caches import all_commands
from reading_bench import Attack, remove, shown
from viewer import Viewer, viewer

ODD_SYMBOL = b"=1+2\x1b]0;odd\x07<kizamiodd>\n\x1b[2J\r@x\xc2\x9b2J"


def names(bench):
    """Names that terminals, spreadsheets and browsers would obey come out as text."""
    attack = Attack("names", "control bytes, formulas and markup in names of regions, symbols, files, arguments and traces", bench.options)
    program = bench.compile("odd", ["-DODD"])
    content = program.read_bytes()
    symbol = b"E" * 40
    if content.count(symbol) == 0:
        attack.note("the symbol was not found in the program: names of functions left out")
    program.write_bytes(content.replace(symbol, ODD_SYMBOL + b"x" * (40 - len(ODD_SYMBOL))))
    arguments = ["3", "\x1b]52;c;aGVsbG8=\x07", "=cmd|' /C calc'!A0", "<kizamiodd>\"onmouseover=alert(1)", "a\nb\rc\x9b", "-o"]
    odd = bench.record("odd\x1b]0;t\x07<kizamiodd>\n=1+2.kz", [program, *arguments], "--io")[0]
    text = b"".join(path.read_bytes() for path in [odd / "run.json"])
    attack.note(f"arguments with ESC in run.json: {'yes' if b'u001b' in text else 'no'}")
    small = bench.scratch / "odd-reduced.kz"
    bench.must(bench.kizami, "reduce", odd, "--keep", "20%", "--keep-all-below", "0", "-o", small)
    raw = bench.record("odd-raw\x1b[2J.kz", [program, *arguments], "--no-seal")[0]
    for trace in (odd, small, raw):
        out = bench.scratch / "names-out"
        remove(out)
        out.mkdir()
        more = [["export", trace, "--to", "csv"], ["events", trace, "--json"], ["whatif", trace, "--json"], ["info", trace, "--all"],
                ["report", trace, "--all"], ["replay", trace, "--json"], ["clocks", trace, "--json"], ["tasks", trace],
                ["diff", trace, bench.sealed], ["info", str(trace) + "-missing\x1b[2J\x07"], ["report", trace, "--html", trace],
                ["replay", trace, "--callsite", "\x1b[2Jx.c:1=0.5"], ["events", trace, "--op", "\x1b[2J"]]
        for words in [*all_commands(trace, out), *more]:
            ended = bench.do(bench.kizami, *words)
            repeat = shown(["kizami", *words])
            wrong = ended.wrong()
            what = f"{words[0]} {shown(words[2:])}"
            attack.case(wrong and f"{what}: {wrong}", repeat, [trace])
            for stream, printed in (("stdout", ended.out), ("stderr", ended.err)):
                bad = control_byte(printed)
                attack.case(bad and f"{what}: {bad} on {stream}", repeat, [trace])
            if "csv" in words and not words[-1].endswith(".csv"):
                check_csv(attack, what, repeat, ended.out, trace)
            if "--markdown" in words:
                # In code it is text, and so it is behind a backslash.
                prose = re.sub(rb"`+[^`\n]*`+|\\.", b"", ended.out)
                attack.case(b"<kizamiodd" in prose and f"{what}: markup outside of code", repeat, [trace])
            if "--json" in words:
                attack.case(not_json(ended.out) if ended.code == 0 else None, repeat, [trace])
        for path in sorted(out.rglob("*")):
            if path.suffix == ".html":
                found = Tags.of(path.read_text(errors="replace"))
                attack.case(found and f"{path.name} has {found}", f"kizami ... {shown([path.name])}", [path])
            if path.suffix == ".csv":
                check_csv(attack, path.name, f"kizami export --to csv -o {path.name}", path.read_bytes(), trace)
    # The viewer's page gets names as JSON.
    viewer = Viewer(bench, odd)
    try:
        for question in ("/api/run", "/api/verdict", "/api/tree", "/api/phases"):
            status, body, _ = viewer.ask(question)
            attack.case(status != 200 and f"{question} answered {status}" or not_json(body), f"kizami view ...; GET {question}", [])
        bad = control_byte(viewer.printed)
        attack.case(bad and f"view: {bad} on stdout", "kizami view --no-open ODD.kz", [])
    finally:
        viewer.end()
    return [attack.end()]


def not_json(text):
    for line in [text, *text.splitlines()]:
        try:
            json.loads(line)
        except ValueError:
            continue
        return None
    return "prints no JSON" if text.strip() else None


def control_byte(text):
    """What a terminal would obey: control bytes, also those of two bytes in UTF-8."""
    found = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text)
    if not found:
        found = re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069]", text.decode(errors="replace"))
    return found and f"control byte {found[0]!r} at {found.start()}"


def check_csv(attack, what, repeat, text, trace):
    bad = None
    for number, row in enumerate(csv.reader(io.StringIO(text.decode(errors="replace"), newline=""))):
        for cell in row:
            if cell[:1] in ("=", "+", "@", "\t", "\r") or cell[:1] == "-" and not re.fullmatch(r"-[\d.e+-]+", cell):
                bad = bad or f"row {number} has a cell that begins a formula: {cell[:40]!r}"
    attack.case(bad and f"{what}: {bad}", repeat, [trace])
    odd = control_byte(text.replace(b"\r\n", b"\n"))
    attack.case(odd and f"{what}: {odd} in CSV", repeat, [trace])


class Tags(html.parser.HTMLParser):
    """Looks for elements and attributes that only names of the trace can have brought in."""

    def __init__(self):
        super().__init__()
        self.found = None

    def handle_starttag(self, tag, attributes):
        odd = [name for name, _ in attributes if name.startswith("on")]
        if tag == "kizamiodd" or odd:
            self.found = f"an element {tag} {' '.join(odd)}, from a name"

    @classmethod
    def of(cls, text):
        tags = cls()
        tags.feed(text)
        return tags.found


# ----------------------------------------------------------------------------------------------------------------- viewer
