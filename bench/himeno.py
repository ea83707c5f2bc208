#!/usr/bin/env python3
"""What a memory limit does to the calls of the last iteration, when and how long they are, with counters on.

    bench/himeno.py --kizami target/release/kizami --workloads DIR [--runs 9] [--limit 1M] [--size 32]
                    [--iterations 4000] [--mpi openmpi --mpi mpich] [--plot himeno.svg] [--json himeno.json]

After Okita, Ino and Hagihara, who did this with the Himeno benchmark: a Jacobi solver in a cube is recorded without
a limit, which is what the others are held against, and with one. By the last iteration all that spilling did to the
run has added up. Told for its calls: how far they start from where the same calls of the unlimited recording start,
and how much longer they take, as recorded and after `kizami undisturb` of both. Recording without a limit a second
time shows what the machine does by itself: below that nothing can be told.

Times count from the end of MPI_Cart_create, because how long starting an MPI takes has nothing to do with us. Every
round runs all ways one after the other; figures are medians over rounds. Needs duckdb (pip install duckdb). DIR is
what workloads/build-both.sh made.
"""
import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

import duckdb

import svg
from launch import launcher, run

RANKS = 2
# Of a rank in one iteration: 6 Irecv, 6 Isend, Waitall, Allreduce.
CALLS = 14
COUNTERS = ["page-faults", "context-switches", "instructions"]
# Room for all of it, so that nothing has to leave while the program runs.
UNLIMITED = ["--spill", "never", "--memory", "256M"]
REFERENCE = "no limit"
WAYS = {
    REFERENCE: UNLIMITED,
    "no limit, again": UNLIMITED,
    "background": ["--spill", "background"],
    "together": ["--spill", "together"],
}


def last_iteration(trace):
    """Of each rank: start, duration and function of its last calls up to the last Allreduce, in ns and in order."""
    events = f"'{trace}/events/*.parquet'"
    origin = duckdb.sql(f"select max(end_ns) from {events} where op = 'MPI_Cart_create'").fetchall()[0][0]
    found = {}
    for rank in range(RANKS):
        rows = duckdb.sql(f"""
            select start_ns, start_ns - {origin}, end_ns - start_ns, op from {events}
            where rank = {rank} and start_ns <= (
                select max(start_ns) from {events} where rank = {rank} and op = 'MPI_Allreduce')
            order by start_ns desc limit {CALLS}""").fetchall()
        found[rank] = rows[::-1]
    return found


def counted_in(trace, calls):
    """Page faults and context switches inside each of these calls, in their order."""
    found = {}
    for rank, rows in calls.items():
        starts = ", ".join(str(row[0]) for row in rows)
        found[rank] = duckdb.sql(f"""
            select page_faults, context_switches from '{trace}/counters/*.parquet'
            where rank = {rank} and start_ns in ({starts}) order by start_ns""").fetchall()
        if len(found[rank]) != CALLS:
            raise SystemExit(f"{trace}: {len(found[rank])} of {CALLS} calls of rank {rank} have counters")
    return found


def whole_run(trace):
    """What was counted in all calls and in all computation of the iterations."""
    events, counters = f"'{trace}/events/*.parquet'", f"'{trace}/counters/*.parquet'"
    faults, faults_before, switches, switches_before = duckdb.sql(f"""
        select sum(page_faults), sum(page_faults_before), sum(context_switches), sum(context_switches_before)
        from {events} join {counters} using (rank, thread, start_ns)
        where op in ('MPI_Irecv', 'MPI_Isend', 'MPI_Waitall', 'MPI_Allreduce')""").fetchall()[0]
    return {"page faults": int(faults), "page faults before": int(faults_before),
            "context switches": int(switches), "context switches before": int(switches_before)}


def record(options, mpi, way, scratch):
    trace, clean = scratch / "run.kz", scratch / "clean.kz"
    for path in (trace, clean):
        shutil.rmtree(path, ignore_errors=True)
    limit = [] if "--memory" in WAYS[way] else ["--memory", options.limit]
    run(options.kizami, "record", "-o", trace, "--counters", ",".join(COUNTERS), *WAYS[way], *limit, "--",
        *launcher(mpi, RANKS), options.workloads / mpi / "jacobi3d_f08", options.size, options.iterations)
    run(options.kizami, "undisturb", trace, "-o", clean)
    said = json.loads(run(options.kizami, "info", trace, "--json"))
    # A recording that lacks calls, or never reached its limit, would be compared with nothing.
    if not said["health"]["complete"] or said["totals"]["lost_calls"]:
        raise SystemExit(f"{mpi}, {way}: not complete: {said['health']['problems']}")
    stops = dict(duckdb.sql(f"select reason, count(*) from '{trace}/stops.parquet' where rank = 0 group by all").fetchall())
    if way == "together" and not stops.get("suspended"):
        raise SystemExit(f"{mpi}: the limit of {options.limit} was never reached; lower it or raise --iterations")
    recorded = last_iteration(trace)
    return {
        "recorded": recorded,
        "rebuilt": last_iteration(clean),
        "in_calls": counted_in(trace, recorded),
        "counted": whole_run(trace),
        "stops": stops,
        "lost_ns": said["disturbance"]["all"]["worst_ns"],
        "refused": {counter["name"]: counter["refused"] for counter in said["counters"] if counter["refused"]},
    }


def measure(options, mpi):
    rounds = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        for _ in range(options.runs):
            rounds.append({way: record(options, mpi, way, Path(folder)) for way in WAYS})
    return rounds


def differences(round_, way, kind):
    """Of all calls: shift of the start and change of the duration in us."""
    return [
        {"rank": rank, "start": (mine[1] - other[1]) / 1e3, "took": (mine[2] - other[2]) / 1e3}
        for rank in round_[way][kind]
        for mine, other in zip(round_[way][kind][rank], round_[REFERENCE][kind][rank], strict=True)
    ]


def counts_changed(round_, way, counter):
    """By how much all calls of the last iteration counted something else, page faults (0) or context switches (1)."""
    return sum(
        abs(mine[counter] - other[counter])
        for rank in round_[way]["in_calls"]
        for mine, other in zip(round_[way]["in_calls"][rank], round_[REFERENCE]["in_calls"][rank], strict=True)
    )


def apart(calls):
    """How far the ranks have drifted apart: the same shift on both changes nothing between them."""
    first, second = ([call["start"] for call in calls if call["rank"] == rank] for rank in (0, 1))
    return max(abs(a - b) for a, b in zip(first, second))


def taken_out(recording):
    """How much sooner the last call of rank 0 starts after `kizami undisturb`, in ns; of one run, so free of noise between runs."""
    return recording["recorded"][0][-1][1] - recording["rebuilt"][0][-1][1]


def figures(rounds, way, kind):
    """Medians over rounds: the farthest start and the largest change of a duration in a round, in us."""
    found = [differences(round_, way, kind) for round_ in rounds]
    return {
        "start": statistics.median(max(abs(call["start"]) for call in calls) for calls in found),
        "apart": statistics.median(apart(calls) for calls in found),
        "took": statistics.median(max(abs(call["took"]) for call in calls) for calls in found),
    }


def table(results):
    print("| MPI | way | stops of a rank | taken out | start shifted by, recorded | undisturbed | ranks apart, recorded | undisturbed | "
          "duration changed by, recorded | undisturbed |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for mpi, rounds in results.items():
        for way in WAYS:
            recorded, rebuilt = (figures(rounds, way, kind) for kind in ("recorded", "rebuilt"))
            stops = statistics.median(round_[way]["stops"].get("suspended", 0) for round_ in rounds)
            waits = statistics.median(round_[way]["stops"].get("chunk-wait", 0) for round_ in rounds)
            out = statistics.median(taken_out(round_[way]) for round_ in rounds)
            print(f"| {mpi} | {way} | {stops + waits:g} | {out / 1e6:.1f} ms | {recorded['start'] / 1e3:.1f} ms | {rebuilt['start'] / 1e3:.1f} ms "
                  f"| {recorded['apart']:.1f} us | {rebuilt['apart']:.1f} us | {recorded['took']:.1f} us | {rebuilt['took']:.1f} us |")
    print()
    print("| MPI | way | last iteration: page faults changed | context switches changed | all iterations: page faults in calls | "
          "between calls | context switches in calls | between calls |")
    print("|---|---|---|---|---|---|---|---|")
    for mpi, rounds in results.items():
        for way in WAYS:
            faults, switches = (statistics.median(counts_changed(round_, way, counter) for round_ in rounds) for counter in (0, 1))
            counted = {name: statistics.median(round_[way]["counted"][name] for round_ in rounds) for name in
                       rounds[0][way]["counted"]}
            print(f"| {mpi} | {way} | {faults:g} | {switches:g} | {counted['page faults']:g} "
                  f"| {counted['page faults before']:g} | {counted['context switches']:g} | {counted['context switches before']:g} |")
    print()
    for mpi, rounds in results.items():
        times = [round_[REFERENCE]["recorded"][0][-1][1] / 1e9 for round_ in rounds]
        middle = statistics.median(times)
        spread = statistics.median(abs(time - middle) for time in times)
        print(f"{mpi}: {len(rounds)} rounds; without a limit the last call starts at {middle:.3f} s, between rounds "
              f"{spread * 1e3:.1f} ms off that; refused: {rounds[0][REFERENCE]['refused']}")


def plot(results, path):
    """Shift of the start and change of the duration of each call of the last iteration, medians over rounds, as a small SVG."""
    colours = {"no limit, again": "#999999", "background": "#66ccee", "together": "#228833"}
    width, height, left, top, gap = 900, 560, 70, 50, 70
    panel_width, panel_height = (width - 2 * left - 20) / 2, (height - 2 * top - gap) / 2
    shapes = []
    for row, (key, unit, scale, title) in enumerate(
        [("start", "ms", 1e3, "start shifted by"), ("took", "us", 1, "duration changed by")]
    ):
        curves = {}
        for mpi, rounds in results.items():
            for way in colours:
                for kind in ("recorded", "rebuilt"):
                    found = [differences(round_, way, kind) for round_ in rounds]
                    curves[mpi, way, kind] = [
                        statistics.median(calls[index][key] for calls in found) / scale for index in range(RANKS * CALLS)
                    ]
        values = [value for curve in curves.values() for value in curve] + [0]
        low, high = min(values), max(values)
        margin = (high - low) * 0.08 or 1
        low, high = low - margin, high + margin
        for column, mpi in enumerate(results):
            x0, y0 = left + column * (panel_width + left), top + row * (panel_height + gap)
            x = lambda index: x0 + panel_width * (index + 0.5) / (RANKS * CALLS)
            y = lambda value: y0 + panel_height * (1 - (value - low) / (high - low))
            shapes.append(f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{panel_width:.1f}" height="{panel_height:.1f}" fill="none" stroke="#ccc"/>')
            shapes.append(f'<line x1="{x0:.1f}" y1="{y(0):.1f}" x2="{x0 + panel_width:.1f}" y2="{y(0):.1f}" stroke="#999"/>')
            shapes.append(f'<text x="{x0:.1f}" y="{y0 - 8:.1f}" font-size="12">{mpi}: {title} ({unit})</text>')
            for value in (low + margin, 0, high - margin):
                shapes.append(f'<text x="{x0 - 6:.1f}" y="{y(value) + 4:.1f}" font-size="11" text-anchor="end">{value:.3g}</text>')
            for rank in range(RANKS):
                shapes.append(
                    f'<text x="{x((rank + 0.5) * CALLS - 0.5):.1f}" y="{y0 + panel_height + 16:.1f}" font-size="11" '
                    f'text-anchor="middle">calls of rank {rank}</text>'
                )
                if rank:
                    edge = x(rank * CALLS - 0.5)
                    shapes.append(f'<line x1="{edge:.1f}" y1="{y0:.1f}" x2="{edge:.1f}" y2="{y0 + panel_height:.1f}" stroke="#ccc"/>')
            for way, colour in colours.items():
                for kind, dash in (("recorded", "5 4"), ("rebuilt", "")):
                    for rank in range(RANKS):
                        points = " ".join(
                            f"{x(index):.1f},{y(curves[mpi, way, kind][index]):.1f}"
                            for index in range(rank * CALLS, (rank + 1) * CALLS)
                        )
                        shapes.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-dasharray="{dash}"/>')
    for index, (way, colour) in enumerate(colours.items()):
        shapes.append(f'<text x="{left + 150 * index}" y="{height - 8}" fill="{colour}" font-size="12">{way}</text>')
    shapes.append(f'<text x="{left}" y="16" font-size="12">calls of the last iteration against a recording without a limit: recorded dashed, undisturbed solid</text>')
    svg.write(path, width, height, shapes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=Path, required=True)
    parser.add_argument("--workloads", type=Path, required=True)
    parser.add_argument("--mpi", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--limit", default="1M")
    parser.add_argument("--size", type=int, default=32)
    # The solver has converged to the last digit a little later, and then calls itself wrong.
    parser.add_argument("--iterations", type=int, default=4000)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {mpi: measure(options, mpi) for mpi in options.mpi or ["openmpi", "mpich"]}
    table(results)
    if options.plot:
        plot(results, options.plot)
    if options.json:
        options.json.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
