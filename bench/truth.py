#!/usr/bin/env python3
"""Whether `kizami report` is right about programs whose bottleneck is known.

    bench/truth.py --kizami target/release/kizami [--on smpi|openmpi|mpich] [--only NAME] [--jobs N] [--runs 3]
                   [--seed 1] [--set built|apart|frozen|unseen] [--json OUT] [--markdown OUT]
    bench/truth.py --list

Builds the programs of workloads/truth, records each with its disease, and compares the first finding of the report with
what the program declares (truth_cases.py says how). The real gain is measured: the program runs with and without its
disease, bare, and (sick - fixed) / sick is what the fix gives. Simulated runs are exact; on real MPIs both are run in
turns, --runs times, and medians are taken. A run's time is from the end of MPI_Init to the program's end, which is what
shares of the report are parts of.

A finding is right if its disease is one of those the program declares, its place lies in the marked lines, and its ranks
are those to blame. Where the report does not name diseases yet, only those that it can mean by "these ranks compute
longer here" or "this call takes long" can be right. A gain is judged where the finding is right.
"""
import argparse
import json
import re
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import truth_cases
from truth_cases import Trouble

# What a finding without a name of a disease can mean, by its cause.
NAMED_BY_CAUSE = {
    "computation": {"imbalance", "moving-imbalance", "growing-imbalance", "rare-imbalance", "random-imbalance", "late-root",
                    "late-sender", "late-receiver", "serialised-io", "lock-contention"},
    "call": {"slow-call", "serialised-io", "lock-contention"},
}
# More ranks than this are not named one by one.
FEW_RANKS = 4
# Gains are shown with a tenth of a point.
ROUNDING = 0.1
# After so long a program that is meant to hang does.
HANGS_AFTER_S = 6


def first_finding(report):
    return (report.get("findings") or [None])[0]


def disease_is_right(case, finding):
    named = finding.get("disease")
    if named is not None:
        return named in case.diseases
    return bool(NAMED_BY_CAUSE.get(finding["cause"], set()) & set(case.diseases))


def place_is_right(case, finding):
    place = finding.get("place") or {}
    inside = any(begin <= (place.get("line") or 0) <= end for begin, end in case.places)
    return place.get("file") == case.source.name and inside


def ranks_are_right(case, finding):
    ranks = set(finding.get("ranks") or [])
    if not case.blamed:
        return True
    return ranks <= case.blamed if ranks else len(case.blamed) > FEW_RANKS


def finding_is_right(case, finding):
    place = place_is_right(case, finding) or case.says("place") == "apart"
    return disease_is_right(case, finding) and place and ranks_are_right(case, finding)


def stated_gain(case, finding):
    """Share and its error, in percent: of balancing where that is the fix and the report tells it."""
    gain = finding.get("balanced") if case.fix == "balance" else None
    gain = gain or finding.get("gain")
    return (100 * gain["share"], 100 * gain["share_error"]) if gain else (None, None)


def seconds(output):
    """Of the rank that took longest."""
    times = [float(time) for time in re.findall(r"loop ([\d.]+)", output)]
    if not times:
        raise Trouble(f"the program printed no time: {output[:500]}")
    return max(times)


def real_gain(options, case, mpi, program, folder):
    """In percent of the sick run, and that run's seconds."""
    start = truth_cases.launcher(case, mpi, folder) + program
    times = {"sick": [], case.fix: []}
    for _ in range(1 if mpi == "smpi" else options.runs):
        for mode, so_far in times.items():
            so_far.append(seconds(truth_cases.run([*start, mode, *case.arguments], mpi, folder)))
    sick, fixed = (statistics.median(so_far) for so_far in times.values())
    return 100 * (sick - fixed) / sick, sick


def report_on(options, case, mpi, program, folder):
    """The report of a recorded run."""
    start = truth_cases.launcher(case, mpi, folder) + program
    record = [options.kizami, "record", "-o", "run.kz", *case.says("options").split(), "--", *start]
    truth_cases.run([*record, "sick", *case.arguments], mpi, folder, HANGS_AFTER_S if case.hang else None)
    return json.loads(truth_cases.run([options.kizami, "report", "run.kz", "--json"], mpi, folder))


def judge(options, case, mpi):
    """A row of the table."""
    row = {"case": case.name, "set": case.set, "counted": case.says("counted", "now"), "mpi": mpi,
           "ranks": case.ranks[mpi], "disease": (case.diseases or ["hang" if case.hang else "healthy"])[0],
           "fix": case.fix, "place_apart": case.says("place") == "apart"}
    try:
        program = truth_cases.build(case, mpi)
        with tempfile.TemporaryDirectory() as scratch:
            report = report_on(options, case, mpi, program, Path(scratch))
            if not case.healthy and not case.hang:
                row["real"], row["sick_s"] = real_gain(options, case, mpi, program, Path(scratch))
    except (Trouble, json.JSONDecodeError) as trouble:
        return row | {"trouble": str(trouble), "right": False}
    if case.hang:
        return row | judge_hang(case, report)
    return row | judge_findings(case, row.get("real"), report)


def judge_findings(case, real, report):
    findings = report.get("findings") or []
    finding = first_finding(report)
    verdict = {"findings": len(findings), "efficiency": 100 * report["efficiency"]["parallel"]}
    if finding is not None:
        verdict |= {"sentence": finding["sentence"], "said": finding.get("disease") or finding["cause"]}
    if case.healthy:
        return verdict | {"right": finding is None}
    if finding is None:
        return verdict | {"right": False}
    predicted, error = stated_gain(case, finding)
    verdict |= {"disease_right": disease_is_right(case, finding), "place_right": place_is_right(case, finding),
                "ranks_right": ranks_are_right(case, finding), "right": finding_is_right(case, finding),
                "place": finding.get("place"), "predicted": predicted, "error": error}
    verdict["right_is"] = next((n for n, f in enumerate(findings, 1) if finding_is_right(case, f)), None)
    if predicted is not None:
        off = abs(predicted - real)
        verdict |= {"off": off, "holds": off <= error + ROUNDING}
    return verdict


def judge_hang(case, report):
    """Right if the report names those who wait for each other, or the one whom all wait for, each at the marked line."""
    stuck = report.get("stuck") or {}
    cycle, causes = set(stuck.get("cycle") or []), {cause["rank"] for cause in stuck.get("causes") or []}
    named = cycle == set(case.hang) if len(case.hang) > 1 else set(case.hang) <= cycle | causes
    at = [call for call in stuck.get("calls") or [] if call["rank"] in case.hang]
    place = bool(at) and all(place_is_right(case, call) for call in at)
    return {"right": named and place, "place_right": place, "ranks_right": named, "said": stuck.get("kind"),
            "sentence": " ".join(stuck.get("sentences") or []), "findings": len(report.get("findings") or [])}


def yes(value):
    return {True: "yes", False: "no", None: ""}[value]


def figure(value):
    return "" if value is None else f"{value:.1f}"


COLUMNS = ["case", "MPI", "ranks", "disease", "first finding", "right", "place", "who", "predicted %", "+-", "real %",
           "off", "holds"]


def cells(row):
    said = "trouble" if "trouble" in row else row.get("said") or "none"
    if row.get("right_is") not in (None, 1):
        said += f" (right one is {row['right_is']}.)"
    return [row["case"], row["mpi"], str(row["ranks"]), row["disease"], said, yes(row.get("right")),
            yes(row.get("place_right")), yes(row.get("ranks_right")), figure(row.get("predicted")),
            figure(row.get("error")), figure(row.get("real")), figure(row.get("off")), yes(row.get("holds"))]


def table(rows):
    lines = [COLUMNS, ["---"] * len(COLUMNS)] + [cells(row) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def of(some, all_):
    return f"{len(some)} of {len(all_)}" + (f" ({100 * len(some) / len(all_):.0f} %)" if all_ else "")


def counts(rows):
    """The sums at the end, of each set and what is counted now."""
    sets = {row["set"]: None for row in rows}
    parts = [counts_of_set([row for row in rows if row["set"] == name and row["counted"] == "now"]) for name in sets]
    return "\n\n".join(f"set {name}\n{part}" for name, part in zip(sets, parts))


def counts_of_set(rows):
    healthy = [row for row in rows if row["disease"] == "healthy"]
    hangs = [row for row in rows if row["disease"] == "hang"]
    sick = [row for row in rows if row["disease"] not in ("healthy", "hang")]
    right = [row for row in sick if row["right"]]
    stated = [row for row in right if row.get("predicted") is not None]
    placed = [row for row in sick if not row["place_apart"]]
    lines = [
        f"first finding right: {of(right, sick)}",
        f"place and ranks right: {of([row for row in placed if row.get('place_right') and row.get('ranks_right')], placed)}",
        f"gain within 2 points: {of([row for row in stated if row['off'] <= 2], sick)}",
        f"gain within 5 points: {of([row for row in stated if row['off'] <= 5], sick)}",
        f"stated interval holds: {of([row for row in stated if row['holds']], stated)}",
        f"healthy without a finding: {of([row for row in healthy if row['right']], healthy)}",
        f"hangs explained: {of([row for row in hangs if row['right']], hangs)}",
    ]
    return "\n".join(lines)


def list_cases(options):
    for case in truth_cases.all_cases(options.seed):
        where = ", ".join(f"{ranks} ranks of {mpi}" for mpi, ranks in case.ranks.items())
        what = ", ".join(case.diseases) or ("hang" if case.hang else "healthy")
        print(f"{case.name:28} {what:45} {where}")


def selected(options):
    for case in truth_cases.all_cases(options.seed):
        wanted = not options.only or any(word in case.name for word in options.only)
        if wanted and options.on in case.ranks and options.set in (None, case.set):
            yield case


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    parser.add_argument("--on", choices=truth_cases.MPIS, default="smpi")
    parser.add_argument("--only", action="append", help="cases whose name has this in it")
    parser.add_argument("--set", choices=["built", *truth_cases.APART])
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time: only simulated runs do not disturb each other")
    parser.add_argument("--runs", type=int, default=3, help="of each mode, on real MPIs")
    parser.add_argument("--seed", type=int, default=1, help="what chance is made from in the programs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    if options.list:
        return list_cases(options)
    if not options.kizami:
        parser.error("--kizami is needed")

    def one(case):
        row = judge(options, case, options.on)
        print(" ".join(cell or "-" for cell in cells(row)), file=sys.stderr, flush=True)
        if "trouble" in row:
            print(row["trouble"], file=sys.stderr, flush=True)
        return row

    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(one, selected(options)))
    text = f"{table(rows)}\n\n{counts(rows)}\n"
    print(text, end="")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)


if __name__ == "__main__":
    main()
