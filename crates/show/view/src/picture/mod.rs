//! Pictures of a run without a browser, for papers and continuous integration: the timeline as a PNG file with all
//! that is needed to read it.
//!
//! Rows are ranks, as on the viewer's page and in its colours: stacked shares of time where rows are high enough,
//! else mixed colours; calls one by one where they can be told apart. A title says what is shown and how the times
//! came to be. Text is drawn with an embedded font, see `crate::canvas`.
//!
//! Promises: the same run and the same options give the same picture on every machine. Names of a trace are letters
//! here and nothing else.

mod axis;
mod calls;
mod frame;
mod rows;
mod theme;

pub use axis::Axis;
pub use theme::Theme;

use crate::canvas::Canvas;
use crate::index::Index;
use crate::index::category::{CATEGORIES, Category};
use crate::layer::LayerKind;
use crate::query::Selection;
use crate::query::timeline::{Timeline, timeline};
use frame::Frame;
use std::io;

/// How large a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Across: time.
    pub width: usize,
    /// Down: ranks. Few ranks make a lower picture.
    pub height: usize,
}

impl Size {
    /// Smaller pictures have no room for what makes them readable.
    pub const SMALLEST: Size = Size { width: 320, height: 240 };
    /// Larger ones take more memory than they are worth.
    pub const LARGEST: Size = Size { width: 8_192, height: 8_192 };
}

/// What stands above a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caption<'a> {
    /// Name of the program.
    pub program: &'a str,
    /// Name of the trace.
    pub trace: &'a str,
    /// How its times came to be.
    pub kind: LayerKind,
}

/// The timeline of a selection as a PNG file.
pub fn png(
    index: &Index,
    selection: &Selection,
    caption: Caption<'_>,
    size: Size,
    theme: &Theme,
) -> io::Result<Vec<u8>> {
    drawn(index, selection, caption, size, theme).png()
}

fn drawn(index: &Index, selection: &Selection, caption: Caption<'_>, size: Size, theme: &Theme) -> Canvas {
    let size = Size {
        width: size.width.clamp(Size::SMALLEST.width, Size::LARGEST.width),
        height: size.height.clamp(Size::SMALLEST.height, Size::LARGEST.height),
    };
    let frame = Frame::new(selection, size);
    let made = timeline(
        index,
        &selection.ranks,
        selection.from.0,
        selection.to.0,
        frame.across.len(),
        frame.most_rows(),
    );
    let mut canvas = frame.draw(index, selection, caption, &made, &occurring(&made), theme);
    let (top, height) = (frame.top(&occurring(&made)), frame.row_height(made.first_ranks.len()));
    let high = height - frame::gap(height);
    for (row, shares) in made.shares.chunks_exact(frame.across.len() * CATEGORIES).enumerate() {
        let y = top + row * height;
        rows::draw(&mut canvas, theme, frame.across.start, y, high, shares);
        if high >= rows::STACKED && made.first_ranks.len() == selection.ranks.len() {
            let rank = made.first_ranks[row];
            let row = calls::Row { rank, across: frame.across.clone(), down: y..y + high };
            calls::draw(&mut canvas, theme, index, selection, &row, frame.text);
        }
    }
    canvas
}

/// The categories that can be seen somewhere.
fn occurring(made: &Timeline) -> Vec<Category> {
    let mut seen = [false; CATEGORIES];
    for cell in made.shares.chunks_exact(CATEGORIES) {
        seen.iter_mut().zip(cell).for_each(|(seen, share)| *seen |= *share > 0);
    }
    theme::LEGEND.into_iter().filter(|category| seen[*category as usize]).collect()
}
