//! How many ranks compute at each moment, as inline SVG: the area is work.

use super::charts::legend;
use super::columns::{round_step, text};
use super::markup::Markup;
use kizami_model::Moment;
use kizami_view::picture::Axis;

const WIDTH: f64 = 1_072.0;
const HEIGHT: f64 = 170.0;
/// Room for the numbers on the left, and for the time below.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 8.0;
const BELOW: f64 = 38.0;
/// Ticks of the time axis, at most.
const TICKS: usize = 12;

/// What is drawn, over equal stretches of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub from: Moment,
    pub to: Moment,
    pub ranks: u32,
    /// Mean number of ranks that compute in each stretch.
    pub computing: Vec<f32>,
    /// The same on an ideal network, unless that could not be worked out.
    pub ideal: Option<Vec<f32>>,
}

impl Curve {
    /// Draws it; `word` says how the times of the run came to be.
    pub fn write(&self, out: &mut Markup, word: &'static str) {
        out.raw("<figure class=\"wide\">\n<figcaption>");
        legend(out, &[("area", word)]);
        if self.ideal.is_some() {
            legend(out, &[("ideal", "predicted: on an ideal network")]);
        }
        out.raw("</figcaption>\n<svg class=\"chart wide\" role=\"img\" aria-label=\"ranks that compute over time\"");
        out.raw(" viewBox=\"0 0 ").number(WIDTH).raw(" ").number(TOP + HEIGHT + BELOW).raw("\">\n");
        self.grid(out);
        out.raw("<path class=\"area\" d=\"M").number(LEFT).raw(" ").number(self.y(0.0));
        self.steps(out, &self.computing);
        out.raw("V").number(self.y(0.0)).raw("Z\"/>\n");
        if let Some(ideal) = &self.ideal {
            out.raw("<path class=\"ideal\" d=\"M").number(LEFT).raw(" ").number(self.y(0.0));
            self.steps(out, ideal);
            out.raw("\"/>\n");
        }
        self.axis(out);
        out.raw("</svg>\n</figure>\n");
    }

    fn y(&self, ranks: f64) -> f64 {
        TOP + HEIGHT * (1.0 - (ranks / f64::from(self.ranks.max(1))).clamp(0.0, 1.0))
    }

    fn x(&self, part: f64) -> f64 {
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    /// Up or down at the begin of each stretch, level through it.
    fn steps(&self, out: &mut Markup, values: &[f32]) {
        for (place, ranks) in values.iter().enumerate() {
            out.raw("V").number(self.y(f64::from(*ranks)));
            out.raw("H").number(self.x((place + 1) as f64 / values.len() as f64));
        }
    }

    fn grid(&self, out: &mut Markup) {
        // There is no half a rank.
        let step = round_step(f64::from(self.ranks)).max(1.0);
        let mut ranks = 0.0;
        while ranks <= f64::from(self.ranks) {
            let y = self.y(ranks);
            out.raw("<line class=\"grid\" x1=\"").number(LEFT).raw("\" x2=\"").number(WIDTH - RIGHT);
            out.raw("\" y1=\"").number(y).raw("\" y2=\"").number(y).raw("\"/>");
            text(out, "end", LEFT - 6.0, y + 4.0, &ranks.to_string());
            ranks += step;
        }
        out.raw("\n");
    }

    fn axis(&self, out: &mut Markup) {
        let axis = Axis::new(self.from, self.to, TICKS);
        let length_ns = self.to.saturating_since(self.from).0.max(1) as f64;
        for (ns, label) in &axis.ticks {
            let x = self.x(ns.saturating_sub(self.from.0) as f64 / length_ns);
            text(out, "middle", x, TOP + HEIGHT + 16.0, label);
        }
        text(out, "middle", self.x(0.5), TOP + HEIGHT + 34.0, &axis.title);
        out.raw("\n");
    }
}
