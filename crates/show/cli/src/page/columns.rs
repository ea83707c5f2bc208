//! A stacked column chart as SVG.

use super::markup::Markup;

/// Room for all columns, and the widest one gets.
const WIDTH: f64 = 900.0;
const WIDEST: f64 = 56.0;
const HEIGHT: f64 = 190.0;
/// Room for the numbers on the left, above, and for the labels below.
const LEFT: f64 = 64.0;
const TOP: f64 = 8.0;
const BELOW: f64 = 36.0;
/// Labels that find room side by side, by the width of a column.
const LABEL_WIDTH: f64 = 44.0;

/// What is drawn.
pub struct Columns<'a> {
    /// In words, for who cannot see it.
    pub label: String,
    /// What the columns are.
    pub axis: &'static str,
    /// As high as the chart goes.
    pub highest: f64,
    /// A height in words.
    pub say: &'a dyn Fn(f64) -> String,
    pub columns: Vec<Column>,
}

/// One column.
pub struct Column {
    pub label: String,
    /// All about it.
    pub title: String,
    /// From below: a class for the colour, and how high.
    pub parts: Vec<(&'static str, f64)>,
    /// A line across.
    pub mark: Option<f64>,
}

impl Columns<'_> {
    /// Draws it.
    pub fn write(&self, out: &mut Markup) {
        let slot = (WIDTH / self.columns.len().max(1) as f64).min(WIDEST);
        // A chart of a few columns still has room for the name of its axis.
        let width = (slot * self.columns.len() as f64).max(4.0 * WIDEST);
        let (all_width, all_height) = (LEFT + width + TOP, TOP + HEIGHT + BELOW);
        out.raw("<svg class=\"chart\" role=\"img\" aria-label=\"")
            .text(&self.label)
            .raw("\" width=\"")
            .number(all_width);
        out.raw("\" height=\"").number(all_height).raw("\" viewBox=\"0 0 ").number(all_width).raw(" ");
        out.number(all_height).raw("\">\n");
        self.grid(out, width);
        for (index, column) in self.columns.iter().enumerate() {
            self.column(out, column, LEFT + slot * index as f64, slot);
        }
        let every = (LABEL_WIDTH / slot).ceil().max(1.0) as usize;
        for (index, column) in self.columns.iter().enumerate().step_by(every) {
            let x = LEFT + slot * (index as f64 + 0.5);
            text(out, "middle", x, TOP + HEIGHT + 14.0, &column.label);
        }
        text(out, "middle", LEFT + width / 2.0, TOP + HEIGHT + 31.0, self.axis);
        out.raw("</svg>\n");
    }

    fn y(&self, value: f64) -> f64 {
        TOP + HEIGHT - self.length(value)
    }

    fn length(&self, value: f64) -> f64 {
        HEIGHT * (value / self.highest.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    fn grid(&self, out: &mut Markup, width: f64) {
        let step = round_step(self.highest);
        let mut value = 0.0;
        while step > 0.0 && value <= self.highest {
            let y = self.y(value);
            out.raw("<line class=\"grid\" x1=\"").number(LEFT).raw("\" x2=\"").number(LEFT + width);
            out.raw("\" y1=\"").number(y).raw("\" y2=\"").number(y).raw("\"/>");
            text(out, "end", LEFT - 6.0, y + 4.0, &(self.say)(value));
            value += step;
        }
    }

    fn column(&self, out: &mut Markup, column: &Column, x: f64, slot: f64) {
        let gap = if slot > 12.0 { 0.2 * slot } else { 0.1 * slot };
        out.raw("<g><title>").text(&column.title).raw("</title>");
        let mut below = 0.0;
        for (class, value) in &column.parts {
            let length = self.length(below + value) - self.length(below);
            out.raw("<rect class=\"").raw(class).raw("\" x=\"").number(x + gap / 2.0).raw("\" y=\"");
            out.number(self.y(below + value)).raw("\" width=\"").number(slot - gap).raw("\" height=\"");
            out.number(length).raw("\"/>");
            below += value;
        }
        if let Some(mark) = column.mark {
            out.raw("<rect class=\"mark\" x=\"").number(x).raw("\" y=\"").number(self.y(mark) - 1.0);
            out.raw("\" width=\"").number(slot).raw("\" height=\"2\"/>");
        }
        out.raw("</g>\n");
    }
}

/// A label; where its `x` is: at its start, middle or end.
pub fn text(out: &mut Markup, anchor: &'static str, x: f64, y: f64, label: &str) {
    out.raw("<text text-anchor=\"").raw(anchor).raw("\" x=\"").number(x).raw("\" y=\"").number(y).raw("\">");
    out.text(label).raw("</text>");
}

/// A step of 1, 2 or 5 and zeros that makes three to six lines.
pub fn round_step(highest: f64) -> f64 {
    if highest <= 0.0 || !highest.is_finite() {
        return 0.0;
    }
    let power = 10f64.powf((highest / 4.0).log10().floor());
    let times = highest / 4.0 / power;
    power
        * if times < 1.5 {
            1.0
        } else if times < 3.5 {
            2.0
        } else if times < 7.5 {
            5.0
        } else {
            10.0
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_a_handful_of_round_lines() {
        for highest in [1.0, 3.0, 7.0, 433e6, 9.99e9, 12.0, 0.004] {
            let lines = highest / round_step(highest);
            assert!((2.0..=7.0).contains(&lines), "{highest}: {lines}");
        }
        assert_eq!(round_step(433e6), 1e8);
        assert_eq!(round_step(0.0), 0.0);
    }
}
