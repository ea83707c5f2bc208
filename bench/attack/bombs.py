"""Small files that claim to be large, and damaged segments beside healthy ones."""
import json
import shutil
from collections import Counter

import forged
from reading_bench import Attack, MOST_RESIDENT, WITHIN, keep_copy, last_line, remove, shown, signed

HUGE = [(1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, (1 << 63) - 1, -1, -(1 << 63)]
ONE_CALL = {"rank": 0, "thread": 0, "start_ns": 1000, "end_ns": 1000, "op": "MPI_Comm_rank", "any_source": False, "any_tag": False, "calls": 1,
            "failed": False, "overhead_ns": 0, "weight": 1.0}


def bomb_commands(trace, out):
    yield ["info", trace]
    yield ["events", trace, "--limit", "5", "--memory", WITHIN]
    yield ["report", trace, "--memory", WITHIN]
    yield ["view", trace, "--memory", WITHIN, "--png", out / "bomb.png"]
    yield ["export", trace, "--to", "csv", "-o", out / "bomb.csv", "--memory", WITHIN]
    yield ["replay", trace, "--memory", WITHIN]


def bombs(bench):
    """Tables and segments that claim more than they hold, or hold more than their size tells."""
    return [bomb_tables(bench), bomb_rows(bench), bomb_segments(bench)]


def try_bomb(bench, attack, what, trace, commands):
    out = bench.scratch / "bomb-out"
    for words in commands:
        remove(out)
        out.mkdir()
        ended = bench.do(bench.kizami, *words, watch=True)
        attack.answered = getattr(attack, "answered", 0) + (ended.code == 0)
        wrong = ended.wrong()
        if not wrong and ended.own > MOST_RESIDENT:
            wrong = f"took {ended.own >> 20} MiB of memory of its own ({ended.resident >> 20} MiB resident)"
        attack.case(wrong and f"{what}, {words[0]}: {wrong}", shown(["kizami", *words]), [trace] if wrong else [])


def forged_table(chance, path):
    """A table that lies, and how."""
    data = path.read_bytes()
    value = chance.choice(HUGE)
    kind = chance.choice(["rows", "sizes", "pages", "values", "field"])
    if kind == "rows":
        return forged.lie_about_rows(data, value), f"{value} rows"
    if kind == "sizes":
        return forged.lie_about_sizes(data, value), f"columns of {value} bytes"
    if kind in ("pages", "values"):
        small = chance.choice([(1 << 31) - 1, 1 << 30, -1, 1 << 28])
        return forged.lie_about_pages(data, small, small if kind == "values" else None), f"pages of {small} {kind}"
    body, footer = forged.footer_of(data)
    for column in forged.columns_of(footer) or [footer]:
        forged.put(column, chance.choice([5, 6, 7, 9, 11]), value)
    return forged.with_footer(body, footer), f"a field of columns {value}"


def bomb_tables(bench):
    attack = Attack("bombs sizes", "tables and run.json with forged sizes and counts", bench.options)
    for number in range(bench.options.count(1000, 16)):
        base = bench.chance.choice([bench.sealed, bench.reduced])
        trace = bench.copy(base, bench.scratch / "bomb.kz")
        if number % 3:
            path = bench.chance.choice([path for path in sorted(trace.rglob("*.parquet"))])
            content, what = forged_table(bench.chance, path)
            path.write_bytes(content)
            what = f"{path.relative_to(trace)} of {base.name} with {what}"
            signed(trace)
        else:
            run_json = json.loads((trace / "run.json").read_text())
            value = bench.chance.choice(HUGE + [4_000_000_000, 100_000_000, 10_000_000])
            name = bench.chance.choice(["ranks", "threads", "span_ns", "events", "calls"])
            (run_json if name in run_json else run_json["totals"])[name] = value
            (trace / "run.json").write_text(json.dumps(run_json))
            what = f"run.json of {base.name} with {name} {value}"
        commands = list(bomb_commands(trace, bench.scratch / "bomb-out"))
        chosen = commands if not bench.options.small else bench.chance.sample(commands, 3)
        try_bomb(bench, attack, what, trace, chosen)
    attack.note(f"{attack.answered} were answered, the others refused")
    return attack.end()


def bomb_rows(bench):
    rows = 8_000_000 if bench.options.gate else 40_000_000
    attack = Attack("bombs rows", f"{rows // 10**6} million equal rows, ranks or names in a few kilobytes", bench.options)
    trace = bench.copy(bench.sealed, bench.scratch / "bomb.kz")
    events = trace / "events" / "part-00000.parquet"
    events.write_bytes(forged.equal_rows(events.read_bytes(), ONE_CALL, rows, rows // 10**6))
    signed(trace)
    attack.note(f"events: {events.stat().st_size} bytes")
    # Writing all of it as text takes as long as it takes; only in full.
    commands = [words for words in bomb_commands(trace, bench.scratch / "bomb-out") if words[0] != "export" or not bench.options.small]
    if bench.options.small:
        commands = [words for words in commands if words[0] != "replay"]
    try_bomb(bench, attack, f"{rows // 10**6} million calls", trace, commands)
    for table, values in (("defs/ranks.parquet", {"rank": 0, "host": 0, "pid": 1, "thread": 0, "ending": "finalized", "calls": 0, "mpi_ns": 0,
                                                  "lost_calls": 0, "threads": 1}),
                          ("defs/callsites.parquet", {"index": 0, "offset": 0, "function": "f" * 1000}),
                          ("defs/communicators.parquet", {"index": 0, "identity": "0" * 16, "kind": "dup", "size": 1}),
                          ("stops.parquet", {"rank": 0, "thread": 0, "start_ns": 0, "end_ns": 0, "kind": "spill"})):
        trace = bench.copy(bench.sealed, bench.scratch / "bomb.kz")
        path = trace / table
        path.write_bytes(forged.equal_rows(path.read_bytes(), values, rows, rows // 10**6))
        signed(trace)
        if bench.options.small and table in ("defs/ranks.parquet", "defs/communicators.parquet"):
            # A minute each.
            continue
        commands = list(bomb_commands(trace, bench.scratch / "bomb-out"))
        try_bomb(bench, attack, f"{rows // 10**6} million rows of {table}", trace, commands[2:3] if bench.options.small else commands)
    return attack.end()


def calls_by_rank(bench, trace):
    """How many rows each rank has. Where there are very many ranks, by what one of them says, only the rows tell."""
    summaries = json.loads((trace / "run.json").read_text())["rank_summaries"]
    if summaries:
        return {rank["rank"]: rank["calls"] for rank in summaries}
    rows = bench.must(bench.kizami, "events", trace, "--json").out.splitlines()
    return Counter(json.loads(row)["rank"] for row in rows)


def bomb_segments(bench):
    """Raw segments of one rank are changed: the other ranks are sealed with all their calls."""
    attack = Attack("bombs segments", "random bytes of one rank's raw segments changed; the others must be sealed whole", bench.options)
    reference = bench.copy(bench.raw, bench.scratch / "segments.kz")
    bench.must(bench.kizami, "seal", reference)
    calls = {rank["rank"]: rank["calls"] for rank in json.loads((reference / "run.json").read_text())["rank_summaries"]}
    harmed = 0
    for number in range(bench.options.count(5000, 50)):
        trace = bench.copy(bench.raw, bench.scratch / "segments.kz")
        victim = bench.chance.choice(sorted(bench.processes))
        files = sorted((trace / "raw").glob(f"*.{bench.processes[victim]}.*"))
        changed = [path for path in files if path.suffix == ".calls"] if bench.chance.random() < 0.8 else files
        path = bench.chance.choice(changed)
        data = bytearray(path.read_bytes())
        used = len(bytes(data).rstrip(b"\0"))
        places = []
        for _ in range(bench.chance.choice([1, 2, 8, 64, 1000])):
            area = bench.chance.choice([64, 4096, used, used, len(data)])
            places.append(bench.chance.randrange(min(area, len(data))))
            data[places[-1]] = bench.chance.choice([0, 1, 127, 128, 255, bench.chance.randrange(256)])
        path.write_bytes(data)
        kept = keep_copy(trace, bench.scratch / "before")
        ended = bench.do(bench.kizami, "seal", trace)
        wrong = ended.wrong() or (f"seal ended with {ended.code}: {last_line(ended.err)}" if ended.code else None)
        if not wrong:
            sealed = calls_by_rank(bench, trace)
            harmed += sealed.get(victim) != calls[victim]
            lost = [rank for rank in calls if rank != victim and sealed.get(rank) != calls[rank]]
            if lost:
                wrong = f"rank {lost[0]}, which is whole, has {sealed.get(lost[0])} calls instead of {calls[lost[0]]}"
        if not wrong and number % 5 == 0:
            wrong = bench.do(bench.kizami, "report", trace).wrong()
        where = f"{len(places)} bytes of {path.suffix} of rank {victim}, first at {places[0]}"
        attack.case(wrong and f"{where}: {wrong}", "kizami seal segments.kz", [kept] if wrong else [])
        shutil.rmtree(kept, ignore_errors=True)
    attack.note(f"the changed rank lost calls in {harmed} of them")
    return attack.end()
