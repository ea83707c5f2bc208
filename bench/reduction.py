#!/usr/bin/env python3
"""Durations before and after reduction to a thousandth, as Kamoshida and Taura show them.

    cargo run --release -p kizami-summary --example paper_figure -- 8192 reduction.json
    bench/reduction.py reduction.json [--plot docs/src/reduction.svg]

Calls are made up: their durations lie around some tens of microseconds, and about 90 in 440,000 take more than 10 ms.
Upper panel: rows with each duration, of all calls and of what each scheme keeps. Lower panel: the share of calls that is kept.
"""
import argparse
import json
import math
from pathlib import Path

import svg

COLOURS = {
    "before": "#999999", "f=1": "#ccbb44", "f=h": "#66ccee", "f=h2": "#4477aa", "ours": "#ee6677", "ours, weighted": "#228833",
}
NAMES = {
    "before": "all calls", "f=1": "f = 1", "f=h": "f = h", "f=h2": "f = h²", "ours": "Kizami: rows kept",
    "ours, weighted": "Kizami: what they stand for",
}
WIDTH, LEFT, RIGHT = 690, 78, 24
LEAST_SHARE = 5  # as a power of a tenth
UPPER, LOWER = (34, 250), (290, 450)


def steps(points, colour, dash=""):
    """A line of steps through (x0, x1, y), with gaps where y is None."""
    path, pen = "", "M"
    for x0, x1, y in points:
        if y is not None:
            path += f"{pen}{x0:.1f},{y:.1f}H{x1:.1f}"
        pen = "M" if y is None else "L"
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    return [f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{extra}/>']


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def plot(data, path):
    schemes, decade = data["schemes"], data["columns_per_decade"]
    columns = len(schemes["before"]["counts"])
    last = max(index for index, count in enumerate(schemes["before"]["counts"]) if count) + 1
    first = min(index for index, count in enumerate(schemes["before"]["counts"]) if count) // decade * decade
    last = min(-(-last // decade) * decade, columns)
    x = lambda column: LEFT + (WIDTH - LEFT - RIGHT) * (column - first) / (last - first)
    top = math.ceil(math.log10(max(schemes["before"]["counts"])))
    count_y = lambda count: UPPER[1] - (UPPER[1] - UPPER[0]) * math.log10(count) / top if count >= 1 else None
    height = LOWER[1] - LOWER[0]
    share_y = lambda share: (
        LOWER[1] - height * (1 + math.log10(share) / LEAST_SHARE) if share > 10**-LEAST_SHARE else None
    )

    shapes = []
    for column in range(first, last + 1, decade):
        shapes.append(f'<line x1="{x(column):.1f}" y1="{UPPER[0]}" x2="{x(column):.1f}" y2="{LOWER[1]}" stroke="#eee"/>')
        label = duration(data["first_ns"] * 10 ** (column / decade))
        shapes.append(f'<text x="{x(column):.1f}" y="{LOWER[1] + 16}" font-size="11" text-anchor="middle">{label}</text>')
    for power in range(0, top + 1, 2):
        y = count_y(10**power)
        shapes.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" font-size="11" text-anchor="end">{10**power:,}</text>')
    for power in range(-LEAST_SHARE, 1):
        y = LOWER[1] - height * (1 + power / LEAST_SHARE)
        text = f"{10.0**power:.0%}" if power >= -2 else f"{10.0**power:.{-power - 2}%}"
        shapes.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" font-size="11" text-anchor="end">{text}</text>')
    for low, high in (UPPER, LOWER):
        shapes.append(f'<path d="M{LEFT},{low}V{high}H{WIDTH - RIGHT}" fill="none" stroke="#999"/>')
    shapes.append(f'<text x="{LEFT}" y="{LOWER[0] - 10}" font-size="12">share of calls kept</text>')
    shapes.append(f'<text x="{WIDTH / 2}" y="{LOWER[1] + 34}" font-size="12" text-anchor="middle">duration of the call</text>')

    before = schemes["before"]["counts"]
    for name, colour in COLOURS.items():
        counts = schemes[name]["counts"]
        dash = "4 3" if name == "ours, weighted" else ""
        upper = [(x(column), x(column + 1), count_y(counts[column])) for column in range(first, last)]
        shapes += steps(upper, colour, dash)
        if name not in ("before", "ours, weighted"):
            share = lambda column: counts[column] / before[column] if before[column] else 0
            shapes += steps([(x(column), x(column + 1), share_y(share(column))) for column in range(first, last)], colour)
    for index, (name, colour) in enumerate(COLOURS.items()):
        left = LEFT + 8 + 205 * (index % 3)
        y = 10 + 14 * (index // 3)
        shapes.append(f'<line x1="{left}" y1="{y}" x2="{left + 18}" y2="{y}" stroke="{colour}" stroke-width="2"/>')
        rows = f", {schemes[name]['rows']:,} rows" if name != "ours, weighted" else ""
        shapes.append(f'<text x="{left + 24}" y="{y + 4}" font-size="11">{NAMES[name]}{rows}</text>')
    svg.write(path, WIDTH, LOWER[1] + 42, shapes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--plot", type=Path, default=Path("docs/src/reduction.svg"))
    options = parser.parse_args()
    plot(json.loads(options.data.read_text()), options.plot)


if __name__ == "__main__":
    main()
