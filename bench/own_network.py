#!/usr/bin/env python3
"""Where `kizami replay --platform`, which shares links phase by phase, agrees with SimGrid, and where it does not.

    bench/own_network.py [--ranks 64] [--platforms flat,fat-tree,torus,dragonfly] [--only PROGRAM,...] [--markdown FILE]

Each program is recorded under smpirun on the flat platform. Its trace is then replayed on all platforms, and simulated there by
`kizami simgrid` without the corrections that SMPI makes by message size (they were measured on one old cluster, and a replay
knows nothing of them). The recording imitates Open MPI's collectives, and so do both. Beside the two times stands what calls make up of
the simulated run, as `kizami report` tells it. Needs what bench/simgrid.py needs; simulated times are exact, so one run of each is enough.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import simgrid

PLAIN = ["smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "network/crosstraffic:0", "network/weight-S:0"]
AGREES = 0.05
# Halos, exchanges of all with all, collectives and mixtures, with messages large enough for links to matter.
PROGRAMS = {
    "halo": ["50", "200000"], "stencil2d": ["1024", "20"], "persistent": ["10", "100000"],
    "allreduce": ["50", "100000"], "cg": ["20000", "10"], "radix_sort": ["20000"], "bucket_sort": [], "fft3d": [],
    "hydro3d": [], "mgcg": [], "molecules": [], "fem": [],
}


def ended(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=simgrid.PATIENCE_S)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise RuntimeError(f"{command[1]}: " + (said[-1] if said else f"ended with {done.returncode}"))
    return json.loads(done.stdout)


def shares(trace):
    """Parts of all ranks' time in messages and in collectives."""
    query = f"""select sum(case when root is not null or comm is not null and peer is null and request is null
                and op not like '%Wait%' then end_ns - start_ns else 0 end), sum(end_ns - start_ns)
                from read_parquet('{trace}/events/*.parquet')"""
    collective, inside = simgrid.duckdb.sql(query).fetchall()[0]
    run = json.loads((trace / "run.json").read_text())
    return inside / run["span_ns"] / run["ranks"], collective / max(inside, 1)


def compare(folder, program, arguments, options, tell):
    flat = simgrid.platform(folder, "flat", options.ranks)
    recorded, _ = simgrid.record(folder, program, arguments, options.ranks, flat, ["--cfg=smpi/coll-selector:ompi"])
    for name in options.platforms.split(","):
        platform = simgrid.platform(folder, name, options.ranks)
        there = folder / "there.kz"
        subprocess.run(["rm", "-rf", there], check=True)
        settings = [word for setting in PLAIN for word in ("--cfg", setting)]
        told = ended(["kizami", "simgrid", recorded, "--platform", platform, "-o", there, "--json", *settings])
        own = ended(["kizami", "replay", recorded, "--platform", platform, "--json"])
        tell(program, name, told["simulated_ns"], own["replayed_ns"], *shares(there))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--platforms", default=",".join(simgrid.PLATFORMS))
    parser.add_argument("--only")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    lines = []

    def tell(program, name, there_ns, own_ns, in_calls, in_collectives):
        error = own_ns / there_ns - 1
        lines.append((program, name, there_ns / 1e6, own_ns / 1e6, error, in_calls, in_collectives))
        print(f"{program:14} {name:10} simgrid {there_ns / 1e6:10.3f} ms  own {own_ns / 1e6:10.3f} ms {error:+8.1%}  "
              f"in calls {in_calls:4.0%}, of that in collectives {in_collectives:4.0%}", flush=True)

    for program in options.only.split(",") if options.only else PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                compare(Path(folder), program, PROGRAMS[program], options, tell)
            except (RuntimeError, subprocess.TimeoutExpired) as problem:
                print(f"{program:14} {problem}", flush=True)
    agree = sum(abs(line[4]) <= AGREES for line in lines)
    print(f"{agree} of {len(lines)} agree within {AGREES:.0%}")
    if options.markdown:
        head = ["| program | platform | SimGrid, ms | own, ms | difference | in calls | of that in collectives |", "|---|---|---|---|---|---|---|"]
        rows = [f"| `{p}` | {n} | {s:.3f} | {o:.3f} | {e:+.1%} | {c:.0%} | {k:.0%} |" for p, n, s, o, e, c, k in lines]
        options.markdown.write_text("\n".join(head + rows) + "\n")


if __name__ == "__main__":
    sys.exit(main())
