//! Time, efficiency and what limits it over the number of ranks, as a picture.
//!
//! Both axes of time are logarithmic, as such pictures are drawn; the grey band is the 90 % interval, hollow dots are runs
//! that were recorded.

use super::run::Predicted;
use super::show::seconds;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const PANEL: f64 = 260.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 36.0;
const GAP: f64 = 56.0;

/// A picture of what was foretold.
pub fn svg(predicted: &Predicted) -> String {
    let height = TOP + 2.0 * PANEL + 2.0 * GAP;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    times(&mut out, predicted);
    shares(&mut out, predicted, TOP + PANEL + GAP);
    out += "</svg>\n";
    out
}

/// A logarithmic axis between two values.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let low = values.clone().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        if low < high {
            Axis { low, high, from, to }
        } else {
            Axis { low: high / 2.0, high: high * 2.0, from, to }
        }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }
}

fn ranks_axis(predicted: &Predicted) -> Axis {
    let foretold = predicted.points.iter().map(|point| f64::from(point.ranks));
    let recorded = predicted.from.iter().map(|run| f64::from(run.ranks));
    Axis::new(foretold.chain(recorded), LEFT, WIDTH - RIGHT)
}

fn times(out: &mut String, predicted: &Predicted) {
    let x = ranks_axis(predicted);
    let ends = predicted.points.iter().flat_map(|point| [point.low_s, point.high_s]);
    let recorded = predicted.from.iter().map(|run| run.time_s);
    let y = Axis::new(ends.chain(recorded), TOP + PANEL, TOP);
    title(out, TOP - 12.0, "time");
    frame(out, TOP);
    let upper = predicted.points.iter().map(|point| (point.ranks, point.high_s));
    let lower = predicted.points.iter().rev().map(|point| (point.ranks, point.low_s));
    let place = |(ranks, time_s): (u32, f64)| format!("{:.1},{:.1}", x.at(f64::from(ranks)), y.at(time_s));
    let band: Vec<String> = upper.chain(lower).map(place).collect();
    let _ = writeln!(out, "<polygon points=\"{}\" fill=\"#dddddd\"/>", band.join(" "));
    let line: Vec<String> = predicted.points.iter().map(|point| place((point.ranks, point.time_s))).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1a5fb4\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for run in &predicted.from {
        let (cx, cy) = (x.at(f64::from(run.ranks)), y.at(run.time_s));
        let _ =
            writeln!(out, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"white\" stroke=\"black\"/>");
    }
    for value in [y.low, (y.low * y.high).sqrt(), y.high] {
        label(out, LEFT - 6.0, y.at(value) + 4.0, "end", &seconds(value));
    }
    ticks(out, predicted, &x, TOP + PANEL + 16.0);
}

fn shares(out: &mut String, predicted: &Predicted, top: f64) {
    let x = ranks_axis(predicted);
    let y = |share: f64| top + PANEL * (1.0 - share.clamp(0.0, 1.0));
    title(out, top - 12.0, "efficiency: the share of all ranks' time that is computation");
    frame(out, top);
    let line: Vec<String> = predicted
        .points
        .iter()
        .map(|point| format!("{:.1},{:.1}", x.at(f64::from(point.ranks)), y(point.efficiency)))
        .collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#26a269\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for share in [0.0, 0.5, 1.0] {
        label(out, LEFT - 6.0, y(share) + 4.0, "end", &format!("{:.0} %", 100.0 * share));
    }
    ticks(out, predicted, &x, top + PANEL + 16.0);
    label(out, WIDTH / 2.0, top + PANEL + 36.0, "middle", "ranks");
}

fn ticks(out: &mut String, predicted: &Predicted, x: &Axis, y: f64) {
    let mut last = f64::NEG_INFINITY;
    for point in &predicted.points {
        let at = x.at(f64::from(point.ranks));
        if at - last > 50.0 {
            label(out, at, y, "middle", &point.ranks.to_string());
            last = at;
        }
    }
}

fn frame(out: &mut String, top: f64) {
    let width = WIDTH - LEFT - RIGHT;
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{width}\" height=\"{PANEL}\" fill=\"none\" stroke=\"#888888\"/>"
    );
}

fn title(out: &mut String, y: f64, text: &str) {
    label(out, LEFT, y, "start", text);
}

fn label(out: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}
