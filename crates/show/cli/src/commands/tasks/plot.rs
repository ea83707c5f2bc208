//! How many tasks run over virtual time, as an SVG file: the area is work.

use crate::page::{Markup, round_step};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
/// Room for numbers and words around the curve.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BELOW: f64 = 46.0;

/// What is drawn.
pub struct Plot<'a> {
    pub title: &'a str,
    /// What times are counted in.
    pub unit: &'a str,
    pub span: f64,
    /// The most tasks at once.
    pub peak: f64,
    /// Mean parallelism in equal parts of the span.
    pub curve: &'a [f64],
}

impl Plot<'_> {
    /// Draws it. Colours stand in the drawing, so that programs which know no style sheets show it as well.
    pub fn draw(&self) -> String {
        let (width, height) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BELOW);
        let mut out = Markup::default();
        out.raw("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ")
            .number(width)
            .raw(" ")
            .number(height);
        out.raw("\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"").number(width);
        out.raw("\" height=\"").number(height).raw("\" fill=\"#ffffff\"/>\n");
        self.words(&mut out, "start", (LEFT, 20.0), self.title);
        self.grid(&mut out);
        out.raw("<path fill=\"#c3d3e0\" stroke=\"#0072b2\" d=\"M").number(LEFT).raw(" ").number(self.y(0.0));
        for (place, tasks) in self.curve.iter().enumerate() {
            out.raw("V").number(self.y(*tasks));
            out.raw("H").number(LEFT + WIDTH * (place + 1) as f64 / self.curve.len() as f64);
        }
        out.raw("V").number(self.y(0.0)).raw("Z\"/>\n</svg>\n");
        out.finish()
    }

    fn y(&self, tasks: f64) -> f64 {
        TOP + HEIGHT * (1.0 - tasks / self.peak.max(1.0))
    }

    fn grid(&self, out: &mut Markup) {
        let step = round_step(self.peak).max(1.0);
        for tasks in (0..).map(|number| f64::from(number) * step).take_while(|tasks| *tasks <= self.peak) {
            let y = self.y(tasks);
            out.raw("<line stroke=\"#e3e8ec\" x1=\"").number(LEFT).raw("\" x2=\"").number(LEFT + WIDTH);
            out.raw("\" y1=\"").number(y).raw("\" y2=\"").number(y).raw("\"/>");
            self.words(out, "end", (LEFT - 6.0, y + 4.0), &tasks.to_string());
        }
        let step = round_step(self.span).max(1.0);
        for time in (0..).map(|number| f64::from(number) * step).take_while(|time| *time <= self.span) {
            let x = LEFT + WIDTH * time / self.span.max(1.0);
            self.words(out, "middle", (x, TOP + HEIGHT + 18.0), &time.to_string());
        }
        let unit = format!("virtual time ({})", self.unit);
        self.words(out, "end", (LEFT + WIDTH, TOP + HEIGHT + 38.0), &unit);
    }

    fn words(&self, out: &mut Markup, anchor: &'static str, (x, y): (f64, f64), words: &str) {
        out.raw("<text fill=\"#405060\" text-anchor=\"").raw(anchor).raw("\" x=\"").number(x);
        out.raw("\" y=\"").number(y).raw("\">").text(words).raw("</text>\n");
    }
}
