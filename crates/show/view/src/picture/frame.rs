//! What stands around the rows: title, legend, ranks and time; and where the rows lie.
//!
//! All lengths follow from the size of the text, and that from the width of the picture: pictures of different widths
//! look the same, but for how sharp they are.

use super::axis::{Axis, about, exact};
use super::theme::Theme;
use super::{Caption, Size};
use crate::canvas::{Canvas, Pen};
use crate::index::Index;
use crate::index::category::Category;
use crate::layer::LayerKind;
use crate::look::LOOKS;
use crate::query::Selection;
use crate::query::timeline::Timeline;
use std::ops::Range;

/// A line of a picture has this many letters m.
const CHARACTERS_PER_LINE: f32 = 84.0;
const SMALLEST_TEXT: f32 = 11.0;
/// Rows are at most so many lines of text high.
const HIGHEST_ROW: f32 = 2.6;

/// The layout of a picture.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    size: Size,
    /// Size of the text.
    pub text: f32,
    /// Columns of the rows.
    pub across: Range<usize>,
}

/// Space below a row.
pub(super) fn gap(row_height: usize) -> usize {
    match row_height {
        0..8 => 0,
        8..20 => 1,
        _ => (row_height / 10).clamp(3, 6),
    }
}

impl Frame {
    pub fn new(selection: &Selection, size: Size) -> Frame {
        let text = (size.width as f32 / CHARACTERS_PER_LINE).max(SMALLEST_TEXT);
        let label = |rank: &u32| Pen::regular(0.9 * text).width(&rank.to_string());
        let widest = selection.ranks.last().map_or(0.0, label).max(Pen::regular(0.9 * text).width("rank"));
        let left = (1.5 * text + widest).ceil() as usize;
        let right = size.width - (1.5 * text) as usize;
        Frame { size, text, across: left..right }
    }

    /// How many rows there is room for.
    pub fn most_rows(&self) -> usize {
        // Before rows are made, nobody knows which categories are in them.
        self.size.height.saturating_sub(self.top(&super::theme::LEGEND) + self.below()).max(1)
    }

    pub fn row_height(&self, rows: usize) -> usize {
        (self.most_rows() / rows.max(1)).clamp(1, (HIGHEST_ROW * self.text) as usize)
    }

    /// Where rows begin, below a legend of these.
    pub fn top(&self, legend: &[Category]) -> usize {
        let lines = self.legend(legend).last().map_or(0, |entry| entry.1 + 1);
        (4.1 * self.text + 1.5 * self.text * lines as f32 + 0.5 * self.text) as usize
    }

    /// Room below the rows.
    fn below(&self) -> usize {
        (3.6 * self.text) as usize
    }

    fn pen(&self) -> Pen {
        Pen::regular(0.9 * self.text)
    }

    /// Where entries of a legend stand: how far from the left, and in which line.
    fn legend(&self, of: &[Category]) -> Vec<(f32, usize)> {
        let (mut x, mut line) = (0.0, 0);
        let mut places = Vec::new();
        for category in of {
            let width = 1.5 * self.text + self.pen().width(LOOKS[*category as usize].name);
            if x > 0.0 && x + width > self.size.width as f32 - 2.0 * self.text {
                (x, line) = (0.0, line + 1);
            }
            places.push((x, line));
            x += width + 1.4 * self.text;
        }
        places
    }

    /// A picture without its rows.
    pub fn draw(
        &self,
        index: &Index,
        selection: &Selection,
        caption: Caption<'_>,
        made: &Timeline,
        legend: &[Category],
        theme: &Theme,
    ) -> Canvas {
        let (rows, top) = (made.first_ranks.len(), self.top(legend));
        let height = self.row_height(rows);
        // A run without ranks still has room for saying so.
        let end = top + if rows > 0 { rows * height } else { (2.0 * self.text) as usize };
        let mut canvas = Canvas::new(self.size.width, end + self.below(), theme.background);
        self.title(&mut canvas, index, selection, caption, rows, theme);
        self.draw_legend(&mut canvas, legend, theme);
        if rows == 0 {
            let y = top as f32 + self.text;
            self.pen().write(&mut canvas, self.across.start as f32, y, "No rank was recorded.", theme.soft);
        }
        self.ranks(&mut canvas, made, top, height, theme);
        self.time(&mut canvas, selection, end, theme);
        canvas
    }

    /// The run, what part of it is shown, and how its times came to be.
    fn title(
        &self,
        canvas: &mut Canvas,
        index: &Index,
        selection: &Selection,
        caption: Caption<'_>,
        rows: usize,
        theme: &Theme,
    ) {
        let (text, room) = (self.text, self.size.width as f32 - 2.0 * self.text);
        let (bold, soft) = (Pen::bold(1.2 * text), self.pen());
        let all_ns = index.end_ns().saturating_sub(index.begin_ns());
        let run = format!(
            "{}, {}, {}",
            soft.fitted(caption.trace, room / 3.0),
            ranks_of(index.ranks()),
            about(all_ns)
        );
        let name_room = (room - soft.width(&run) - text).max(0.4 * room);
        let name = bold.fitted(caption.program, name_room);
        let end = bold.write(canvas, text, 1.95 * text, &name, theme.ink);
        let rest = soft.fitted(&run, (text + room - end - 0.7 * text).max(0.0));
        soft.write(canvas, end + 0.7 * text, 1.95 * text, &rest, theme.soft);
        let mut line = vec![times(caption.kind), part(index, selection)];
        if rows > 0 && selection.ranks.len() > rows {
            line.push(format!("each row averages {} ranks", selection.ranks.len().div_ceil(rows)));
        }
        let line = soft.fitted(&line.join("  ·  "), room);
        soft.write(canvas, text, 3.4 * text, &line, theme.soft);
    }

    fn draw_legend(&self, canvas: &mut Canvas, legend: &[Category], theme: &Theme) {
        let side = (0.85 * self.text) as usize;
        for (category, (x, line)) in legend.iter().zip(self.legend(legend)) {
            let (x, y) = (self.text + x, 5.1 * self.text + 1.5 * self.text * line as f32);
            let (left, top) = (x as usize, (y - 0.78 * self.text) as usize);
            canvas.fill(left, top, side, side, theme.line);
            for y in top + 1..top + side - 1 {
                (left + 1..left + side - 1).for_each(|x| canvas.set(x, y, theme.pixel(*category, x, y)));
            }
            let name = LOOKS[*category as usize].name;
            self.pen().write(canvas, x + 1.3 * self.text, y, name, theme.ink);
        }
    }

    /// As many ranks as can be read beside their rows.
    fn ranks(&self, canvas: &mut Canvas, made: &Timeline, top: usize, height: usize, theme: &Theme) {
        let (pen, right) = (self.pen(), self.across.start as f32 - 0.5 * self.text);
        let every = (1.3 * self.text / height as f32).ceil() as usize;
        let every = every.next_power_of_two();
        for (row, rank) in made.first_ranks.iter().enumerate().step_by(every) {
            let middle = top as f32 + row as f32 * height as f32 + (height - gap(height)) as f32 / 2.0;
            pen.write_before(canvas, right, middle + 0.33 * self.text, &rank.to_string(), theme.ink);
            if every > 1 {
                canvas.fill(
                    self.across.start - (0.35 * self.text) as usize,
                    middle as usize,
                    (0.3 * self.text) as usize,
                    1,
                    theme.line,
                );
            }
        }
        if !made.first_ranks.is_empty() {
            // Stands where no rank and no moment does.
            let y = top as f32 + made.first_ranks.len() as f32 * height as f32 + 2.7 * self.text;
            pen.write_before(canvas, right, y, "rank", theme.soft);
        }
    }

    fn time(&self, canvas: &mut Canvas, selection: &Selection, top: usize, theme: &Theme) {
        let (pen, text) = (self.pen(), self.text);
        let axis =
            Axis::new(selection.from, selection.to, (self.across.len() as f32 / (5.5 * text)) as usize);
        let thick = ((text / 16.0).round() as usize).max(1);
        canvas.fill(self.across.start, top, self.across.len(), thick, theme.line);
        for (ns, label) in &axis.ticks {
            let part = (*ns as f64 - selection.from.0 as f64) / (selection.length().0.max(1)) as f64;
            let x = self.across.start as f64 + part * self.across.len() as f64;
            canvas.fill(
                (x as usize).min(self.across.end - 1),
                top,
                thick,
                (0.35 * text) as usize,
                theme.line,
            );
            let room = canvas.width as f32 - 0.3 * text - pen.width(label) / 2.0;
            pen.write_centred(canvas, (x as f32).min(room), top as f32 + 1.3 * text, label, theme.ink);
        }
        let middle = (self.across.start + self.across.end) as f32 / 2.0;
        pen.write_centred(canvas, middle, top as f32 + 2.7 * text, &axis.title, theme.soft);
    }
}

/// In the words of the viewer's page.
fn times(kind: LayerKind) -> String {
    let more = match kind {
        LayerKind::Undisturbed => ": tracer overhead removed",
        LayerKind::Replayed => ": replayed, not measured",
        LayerKind::Virtual => ": units of virtual time",
        LayerKind::Recorded => "",
    };
    format!("{}{more}", kind.word())
}

fn part(index: &Index, selection: &Selection) -> String {
    let (all, work) = (Selection::all(index), Selection::at_work(index));
    let is = |other: &Selection| (selection.from, selection.to) == (other.from, other.to);
    let time = match selection {
        _ if is(&all) => "whole run".to_owned(),
        _ if is(&work) => "between MPI_Init and MPI_Finalize".to_owned(),
        some => format!("from {} to {}", exact(some.from.0), exact(some.to.0)),
    };
    match selection.ranks.as_slice() {
        some if some.len() == all.ranks.len() => time,
        [one] => format!("{time}, rank {one}"),
        [first, .., last] if (last - first) as usize + 1 == selection.ranks.len() => {
            format!("{time}, ranks {first}–{last}")
        }
        some => format!("{time}, {} selected ranks", some.len()),
    }
}

fn ranks_of(ranks: u32) -> String {
    if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") }
}
