//! What all panels share: axes, grid, labels, legends.

use super::super::predicted::Predicted;
use super::WIDTH;
use crate::page::{Markup, text};
use crate::show::quantity;

/// Height of the field that is drawn into, and room around it.
pub const FIELD: f64 = 230.0;
pub const LEFT: f64 = 80.0;
pub const RIGHT: f64 = 24.0;
pub const TOP: f64 = 24.0;
const BELOW: f64 = 40.0;
/// Labels of ranks are at least so far apart.
const LABELS_APART: f64 = 52.0;
/// Height of a line of a legend.
const LEGEND_LINE: f64 = 18.0;

/// A logarithmic axis between two values, from one coordinate to another.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// One that holds all values above 0. A single value is in its middle.
    pub fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let low = values.clone().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        match low < high {
            true => Axis { low, high, from, to },
            false if high > 0.0 => Axis { low: high / 2.0, high: high * 2.0, from, to },
            false => Axis { low: 1.0, high: 10.0, from, to },
        }
    }

    /// Where a value is.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Values 1, 2 and 5 with zeros on it; fewer if there are many.
    pub fn round_values(&self) -> Vec<f64> {
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let inside = |value: &f64| *value >= 0.999 * self.low && *value <= 1.001 * self.high;
        let of = |steps: &[f64]| -> Vec<f64> {
            let all = powers.clone().flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
            all.filter(inside).collect()
        };
        let (many, some, few) = (of(&[1.0, 2.0, 5.0]), of(&[1.0, 3.0]), of(&[1.0]));
        [many, some, few].into_iter().find(|values| values.len() <= 7).unwrap_or_default()
    }
}

/// The axis of ranks.
pub fn ranks(predicted: &Predicted) -> Axis {
    let of_points = predicted.points.iter().map(|point| f64::from(point.ranks));
    let recorded = predicted.from.iter().map(|run| f64::from(run.ranks));
    Axis::new(of_points.chain(recorded), LEFT, WIDTH - RIGHT)
}

/// Where a share is, from 0 below to 1 above.
pub fn share_y(share: f64) -> f64 {
    TOP + FIELD * (1.0 - share.clamp(0.0, 1.0))
}

/// The title of a panel, the frame of its field, and ranks below it.
pub fn frame(out: &mut Markup, title: &str, predicted: &Predicted, x: &Axis) {
    text(out, "start", LEFT, TOP - 9.0, title);
    out.raw("<rect class=\"field\" fill=\"none\" stroke=\"#b0b8c0\" x=\"")
        .number(LEFT)
        .raw("\" y=\"")
        .number(TOP);
    out.raw("\" width=\"").number(WIDTH - LEFT - RIGHT).raw("\" height=\"").number(FIELD).raw("\"/>\n");
    let mut all: Vec<u32> = predicted.points.iter().map(|point| point.ranks).collect();
    all.extend(predicted.from.iter().map(|run| run.ranks));
    all.sort_unstable();
    let mut last = f64::NEG_INFINITY;
    for ranks in all {
        let at = x.at(f64::from(ranks));
        if at - last >= LABELS_APART {
            text(out, "middle", at, TOP + FIELD + 16.0, &quantity::count(u64::from(ranks)));
            last = at;
        }
    }
    text(out, "middle", (LEFT + WIDTH - RIGHT) / 2.0, TOP + FIELD + 33.0, "ranks");
}

/// A line across the field, with what it stands for.
pub fn grid(out: &mut Markup, y: f64, label: &str) {
    out.raw("<line class=\"grid\" stroke=\"#d9dfe5\" x1=\"")
        .number(LEFT)
        .raw("\" x2=\"")
        .number(WIDTH - RIGHT);
    out.raw("\" y1=\"").number(y).raw("\" y2=\"").number(y).raw("\"/>");
    text(out, "end", LEFT - 6.0, y + 4.0, label);
    out.raw("\n");
}

/// Corners as an attribute has them.
pub fn corners(out: &mut Markup, corners: impl Iterator<Item = (f64, f64)>) {
    for (x, y) in corners {
        out.number(x).raw(",").number(y).raw(" ");
    }
}

/// How high a panel is whose legend has so many lines.
pub fn height(legend_lines: usize) -> f64 {
    TOP + FIELD + BELOW + LEGEND_LINE * legend_lines as f64 + 8.0
}

/// Where a line of the legend is, counted from 0.
pub fn legend_y(line: usize) -> f64 {
    TOP + FIELD + BELOW + LEGEND_LINE * line as f64 + 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_a_few_round_values() {
        let axis = Axis::new([0.0189, 0.267].into_iter(), 0.0, 1.0);
        let values: Vec<String> = axis.round_values().iter().map(|value| format!("{value:.2}")).collect();
        assert_eq!(values, ["0.02", "0.05", "0.10", "0.20"]);
        let wide = Axis::new([1e-6, 1e3].into_iter(), 0.0, 1.0);
        assert!(wide.round_values().len() <= 10);
        let single = Axis::new([5.0].into_iter(), 0.0, 1.0);
        assert!((single.at(5.0) - 0.5).abs() < 1e-9);
    }
}
