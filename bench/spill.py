#!/usr/bin/env python3
"""What stopping, spilling and limits do to a run, and how well the run without us is found again.

    bench/spill.py --kizami target/release/kizami --workloads DIR [--runs 9] [--ranks 2] [--limit 8M]
                   [--sizes 0 1 4] [--mean-us 1700] [--kernel spin|work] [--cgroup] [--way together ...]
                   [--mpi openmpi --mpi mpich] [--plot spill.svg] [--json spill.json]

After Okita, Ino and Hagihara: a program of 520 imbalanced steps, each ended by a barrier, makes a trace of so
many times the memory limit in each rank. At the largest size it makes 30 MB a second and rank, as theirs did. Its steps
spin until a clock has moved on, so the untraced time T is known and repeats; with `--kernel work` they add numbers up.
With `--cgroup` (as root, where there is a cgroup for memory) recording without a limit is also measured where the system allows
its processes no more memory than they and the limit need, so that it has to take pages away from them. For each way to spill: recorded time, reconstructed time R, |R - T| / T, and how far the
reconstructed barriers are off those of the untraced run. DIR is what workloads/build-both.sh made. Every round
runs all ways one after the other, so that noise of the machine hits all alike; figures are medians over rounds.
"""
import argparse
import json
import re
import shutil
import statistics
import tempfile
from pathlib import Path

import svg
from launch import launcher, run

STEPS = 520
MEMORY_CGROUPS = Path("/sys/fs/cgroup/memory")
BYTES_PER_CALL = 32

WAYS = {
    "no limit": ["--spill", "never", "--memory", "1G"],
    "no limit, cgroup": ["--spill", "never", "--memory", "1G"],
    "background": ["--spill", "background"],
    "together": ["--spill", "together"],
    "together, static": ["--spill", "together", "--suspend", "static:40ms"],
    "together, unmeasured": ["--spill", "together", "--suspend", "unmeasured"],
}


def barriers(kizami, trace, ranks):
    """Start and end of every barrier in ns, by rank."""
    found = {rank: [] for rank in range(ranks)}
    output = run(kizami, "events", trace, "--op", "MPI_Barrier", "--limit", "1000000", "--json")
    for line in output.splitlines():
        event = json.loads(line)
        found[event["rank"]].append((event["start_ns"], event["end_ns"]))
    return found


def seconds(found):
    """From the first barrier to the last, as rank 0 sees it: what the program itself measures."""
    return (found[0][-1][1] - found[0][0][1]) / 1e9


def small_cgroup(options):
    """A cgroup with room for the bare processes and what the limit allows their traces, and no more."""
    group = MEMORY_CGROUPS / "kizami-spill"
    group.mkdir(exist_ok=True)
    bare = 32 << 20
    (group / "memory.limit_in_bytes").write_text(str(int(options.ranks * (bare + size_in_bytes(options.limit)))))
    return group


def untraced(options, mpi, calls, scratch):
    file = scratch / "barriers"
    program = options.workloads / mpi / "registration"
    output = run(*launcher(mpi, options.ranks), program, STEPS, options.mean_us, calls, options.kernel, file)
    durations = {
        rank: [int(line) for line in Path(f"{file}.{rank}").read_text().split()] for rank in range(options.ranks)
    }
    return float(re.search(r"seconds ([\d.]+)", output).group(1)), durations


def traced(options, mpi, calls, way, scratch):
    trace, clean = scratch / "run.kz", scratch / "clean.kz"
    for path in (trace, clean):
        shutil.rmtree(path, ignore_errors=True)
    limit = [] if "--memory" in WAYS[way] else ["--memory", options.limit]
    program = options.workloads / mpi / "registration"
    within = ["sh", "-c", f'echo $$ > {options.cgroup}/tasks && exec "$@"', "sh"] if "cgroup" in way else []
    run(*within, options.kizami, "record", "--no-seal", "-o", trace, *WAYS[way], *limit, "--",
        *launcher(mpi, options.ranks), program, STEPS, options.mean_us, calls, options.kernel)
    run(options.kizami, "seal", trace)
    run(options.kizami, "undisturb", trace, "-o", clean)
    recorded, rebuilt = (barriers(options.kizami, path, options.ranks) for path in (trace, clean))
    return seconds(recorded), seconds(rebuilt), rebuilt


def size_in_bytes(text):
    number, unit = re.fullmatch(r"([\d.]+)([KMG]?)", text).groups()
    return float(number) * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[unit]


def measure(options, mpi, size):
    calls = int(size * size_in_bytes(options.limit) / BYTES_PER_CALL / STEPS)
    ways = [way for way in options.way or WAYS if options.cgroup or "cgroup" not in way]
    bare, figures = [], {way: {"recorded": [], "rebuilt": [], "error": [], "barrier_us": []} for way in ways}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scratch = Path(folder)
        for _ in range(options.runs):
            time, durations = untraced(options, mpi, calls, scratch)
            bare.append(time)
            for way in ways:
                recorded, rebuilt, found = traced(options, mpi, calls, way, scratch)
                # The first barrier brings the ranks together and is not one of the steps.
                off = [
                    abs((end - start) - duration) / 1e3
                    for rank in found
                    for (start, end), duration in zip(found[rank][1:], durations[rank])
                ]
                figures[way]["recorded"].append(recorded)
                figures[way]["rebuilt"].append(rebuilt)
                figures[way]["error"].append(abs(rebuilt - time) / time)
                figures[way]["barrier_us"].append(statistics.median(off))
    truth = statistics.median(bare)
    noise = statistics.median(abs(time - truth) for time in bare) / truth
    return {"mpi": mpi, "size": size, "calls": calls, "T": truth, "noise": noise, "ways": figures, "bare": bare}


def table(results):
    print("| MPI | trace / limit | way | T | noise of T | recorded / T | R / T | \\|R - T\\| / T | barriers off by |")
    print("|---|---|---|---|---|---|---|---|---|")
    for result in results:
        truth = result["T"]
        for way, figures in result["ways"].items():
            median = {name: statistics.median(values) for name, values in figures.items()}
            print(
                f"| {result['mpi']} | {result['size']:g} | {way} | {truth:.3f} s | {result['noise']:.2%} "
                f"| {median['recorded'] / truth:.3f} | {median['rebuilt'] / truth:.4f} | {median['error']:.2%} "
                f"| {median['barrier_us']:.0f} us |"
            )


def plot(results, path):
    """Recorded (dashed) and reconstructed (solid) time over trace size, as a small SVG."""
    width, height, left, top = 640, 320, 60, 20
    sizes = sorted({result["size"] for result in results})
    colours = dict(zip(WAYS, ["#4477aa", "#bbbbbb", "#66ccee", "#228833", "#ccbb44", "#ee6677"]))
    colours = {way: colour for way, colour in colours.items() if way in results[0]["ways"]}
    highest = max(
        statistics.median(figures["recorded"]) / result["T"] for result in results for figures in result["ways"].values()
    )
    scale_y = max(highest, 1.1)
    x = lambda size: left + (width - left - 20) * size / (max(sizes) or 1)
    y = lambda value: top + (height - top - 40) * (1 - (value - 0.9) / (scale_y - 0.9))
    shapes = [f'<line x1="{left}" y1="{y(1):.1f}" x2="{width - 20}" y2="{y(1):.1f}" stroke="#999"/>']
    for mpi in dict.fromkeys(result["mpi"] for result in results):
        for way, colour in colours.items():
            for kind, dash in (("recorded", "5 4" if mpi == "openmpi" else "2 2"), ("rebuilt", "")):
                points = " ".join(
                    f"{x(r['size']):.1f},{y(statistics.median(r['ways'][way][kind]) / r['T']):.1f}"
                    for r in results if r["mpi"] == mpi
                )
                shapes.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-dasharray="{dash}"/>')
    for index, (way, colour) in enumerate(colours.items()):
        shapes.append(f'<text x="{left + 10}" y="{top + 14 + 14 * index}" fill="{colour}" font-size="11">{way}</text>')
    for size in sizes:
        shapes.append(f'<text x="{x(size):.1f}" y="{height - 22}" font-size="11" text-anchor="middle">{size:g}</text>')
    for value in (1.0, scale_y):
        shapes.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" font-size="11" text-anchor="end">{value:.2f}</text>')
    shapes.append(f'<text x="{width / 2}" y="{height - 6}" font-size="12" text-anchor="middle">trace / limit</text>')
    shapes.append(f'<text x="8" y="{top - 6}" font-size="12">time / untraced: recorded dashed, reconstructed solid</text>')
    svg.write(path, width, height, shapes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kizami", type=Path, required=True)
    parser.add_argument("--workloads", type=Path, required=True)
    parser.add_argument("--mpi", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--limit", default="8M")
    parser.add_argument("--mean-us", type=float, default=1700)
    parser.add_argument("--kernel", choices=["spin", "work"], default="spin")
    parser.add_argument("--cgroup", action="store_true")
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--sizes", type=float, nargs="+", default=[0, 1, 4])
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.cgroup:
        options.cgroup = small_cgroup(options)
    results = [measure(options, mpi, size) for mpi in options.mpi or ["openmpi", "mpich"] for size in options.sizes]
    table(results)
    if options.plot:
        plot(results, options.plot)
    if options.json:
        options.json.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
