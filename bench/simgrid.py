#!/usr/bin/env python3
"""Whether `kizami simgrid` gives what SimGrid's own smpirun gives.

    bench/simgrid.py [--ranks 16,64,256] [--platforms flat,fat-tree,torus,dragonfly] [--only NAME,...] [--markdown FILE]

Programs of workloads/ are recorded under smpirun on each platform. `kizami simgrid` then plays each recording on the platform
it was made on, and the one made on the flat platform on all others: run times and calls are compared with what smpirun gave
there. Times are simulated, so one run of each is enough. Programs must have been built with smpicc into
$KIZAMI_TEST_DIR/workloads/smpi (.ci/prepare does so), and `kizami` and `kizami-simgrid` must be on the PATH. DuckDB's Python
module compares the calls; without it only run times are.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import duckdb
except ImportError:
    duckdb = None

BUILT = Path(os.environ.get("KIZAMI_TEST_DIR", Path.home() / ".cache/kizami")) / "workloads" / "smpi"
# Those that end normally at any number of ranks and compute only as much as SimGrid is told. The second list was not looked at
# before `kizami simgrid` was finished.
PROGRAMS = {
    "stencil2d": ["64", "20"], "matmul_shift": ["32"], "radix_sort": ["1000"], "cg": ["1000", "10"],
    "allreduce": ["50", "100"], "halo": ["50", "20000"], "persistent": ["10", "1000"], "in_place": ["5"],
    "wildcard": ["2"], "communicators": [],
}
HELD_APART = {"bucket_sort": [], "fft3d": [], "hydro3d": [], "mgcg": [], "molecules": [], "fem": [], "regions": ["5"],
              "doubling": ["20", "0"], "rows": [], "neighbours": ["4"]}
PLATFORMS = {
    "flat": "",
    "fat-tree": 'topology="FAT_TREE" topo_parameters="2;16,{upper};1,8;1,1"',
    "torus": 'topology="TORUS" topo_parameters="{torus}"',
    "dragonfly": 'topology="DRAGONFLY" topo_parameters="{dragonfly}"',
}
SHAPES = {16: {"upper": 1, "torus": "4,4", "dragonfly": "2,1;2,1;2,1;2"},
          64: {"upper": 4, "torus": "4,4,4", "dragonfly": "4,1;2,1;4,1;2"},
          256: {"upper": 16, "torus": "8,8,4", "dragonfly": "4,1;4,1;4,1;4"}}
PATIENCE_S = 300


def platform(folder, name, ranks):
    shape = PLATFORMS[name].format(**SHAPES[ranks])
    loop = ' loopback_bw="10GBps" loopback_lat="0s"' if shape else ""
    path = folder / f"{name}-{ranks}.xml"
    path.write_text(f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-{ranks - 1}" suffix="" speed="1Gf" bw="1.25GBps" lat="2us" {shape}{loop}/>
</platform>
""")
    return path


def record(folder, program, arguments, ranks, platform_file, settings=()):
    """The trace of a run under smpirun, and how long recording it took."""
    trace = folder / f"{program}.{platform_file.stem}.kz"
    hosts = folder / f"hosts-{ranks}"
    hosts.write_text("".join(f"node-{rank}\n" for rank in range(ranks)))
    command = ["kizami", "record", "-o", trace, "--", "smpirun", "-np", str(ranks), "-platform", platform_file,
               "-hostfile", hosts, "--cfg=smpi/simulate-computation:no", *settings, BUILT / program, *arguments]
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE_S, cwd=folder)
    if done.returncode != 0 or not (trace / "run.json").exists():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError("smpirun: " + (said[-1] if said else "failed"))
    return trace, time.monotonic() - begin


def simulate(folder, trace, platform_file):
    output = folder / "there.kz"
    subprocess.run(["rm", "-rf", output], check=True)
    done = subprocess.run(["kizami", "simgrid", trace, "--platform", platform_file, "-o", output, "--json"],
                          capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise RuntimeError("kizami simgrid: " + (said[-1] if said else f"ended with {done.returncode}"))
    return json.loads(done.stdout), output


def span_ns(trace):
    return json.loads((trace / "run.json").read_text())["span_ns"]


def alike(one, other):
    """Share of calls that begin and end within 1 % of the run, or of their own length, of each other."""
    if duckdb is None:
        return None
    rows = "(select row_number() over () as row, start_ns, end_ns from read_parquet('{}/events/*.parquet'))"
    query = f"""select avg((abs((a.end_ns - a.start_ns) - (b.end_ns - b.start_ns))
                            <= greatest(0.01 * (a.end_ns - a.start_ns), 2))::int)
                from {rows.format(one)} a join {rows.format(other)} b using (row)"""
    return duckdb.sql(query).fetchall()[0][0]


def compare(folder, program, arguments, ranks, names, tell):
    recorded = {}
    for name in names:
        recorded[name], recording_s = record(folder, program, arguments, ranks, platform(folder, name, ranks))
        told, output = simulate(folder, recorded[name], platform(folder, name, ranks))
        tell(program, ranks, name, "same", span_ns(recorded[name]), told, alike(recorded[name], output), recording_s)
    for name in names[1:]:
        told, output = simulate(folder, recorded[names[0]], platform(folder, name, ranks))
        tell(program, ranks, name, f"from {names[0]}", span_ns(recorded[name]), told, alike(recorded[name], output), None)


def summary(lines):
    """A row for each program, for the book."""
    rows = ["| program | ranks | comparisons | largest error on the same platform | on another | calls within 1 % |",
            "|---|---|---|---|---|---|"]
    for program in dict.fromkeys(line[0] for line in lines):
        own = [line for line in lines if line[0] == program]
        ranks = ", ".join(str(count) for count in sorted({line[1] for line in own}))

        def worst(same):
            errors = [abs(line[3]) for line in own if (line[2] == "same") == same]
            return f"{max(errors):.3f} %" if errors else ""
        shares = [100 * line[4] for line in own if line[4] is not None]
        alike = f"{min(shares):.1f} to {max(shares):.1f} %" if shares and min(shares) < 99.95 else "100 %"
        arguments = " ".join([program, *{**PROGRAMS, **HELD_APART}[program]])
        rows.append(f"| `{arguments}` | {ranks} | {len(own)} | {worst(True)} | {worst(False)} | {alike} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--platforms", default=",".join(PLATFORMS))
    parser.add_argument("--only")
    parser.add_argument("--held-apart", action="store_true", help="the programs that were kept for the end")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    programs = HELD_APART if options.held_apart else PROGRAMS
    chosen = options.only.split(",") if options.only else list(programs)
    lines = []

    def tell(program, ranks, name, how, real_ns, told, share, recording_s):
        error = (told["simulated_ns"] / real_ns - 1) * 100 if real_ns else 0.0
        speed = "" if recording_s is None else f"{told['calls'] / max(told['seconds'], 1e-3):,.0f}"
        kept = sum(told["kept"].values())
        lines.append((program, ranks, how, error, share))
        calls = "-" if share is None else f"{share * 100:.1f} %"
        print(f"{program:14} {ranks:4} {name:10} {how:10} {real_ns / 1e6:10.3f} ms {error:+8.3f} %  calls {calls:>8}  "
              f"{speed:>9} calls/s  kept {kept}", flush=True)

    for program in chosen:
        for ranks in map(int, options.ranks.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    compare(Path(folder), program, {**PROGRAMS, **HELD_APART}[program], ranks, options.platforms.split(","), tell)
                except (RuntimeError, subprocess.TimeoutExpired) as problem:
                    print(f"{program:14} {ranks:4} {problem}", flush=True)
    if options.markdown:
        options.markdown.write_text(summary(lines))
    worst = max((abs(line[3]) for line in lines), default=0.0)
    print(f"{len(lines)} comparisons, largest error {worst:.3f} %")


if __name__ == "__main__":
    sys.exit(main())
