//! Calls one by one over the shares of a row, where they can be told apart, with their names where those fit.
//!
//! Edges are where they are to the pixel. Calls narrower than that are left to the shares below. Only calls of the
//! rank's first thread are drawn, as in the shares.

use super::theme::{Theme, ink_on};
use crate::canvas::{Canvas, Pen};
use crate::index::Index;
use crate::query::Selection;
use std::ops::Range;

/// Narrower boxes say nothing the shares do not.
const NARROWEST: f64 = 1.5;
/// Boxes from this width on are set apart from those before them.
const SET_APART: usize = 5;
/// Names are not written smaller.
const SMALLEST_NAME: f32 = 8.0;

/// Where a row lies.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub rank: u32,
    pub across: Range<usize>,
    pub down: Range<usize>,
}

/// Draws the calls of one rank.
pub(super) fn draw(
    canvas: &mut Canvas,
    theme: &Theme,
    index: &Index,
    selection: &Selection,
    row: &Row,
    text: f32,
) {
    let Some((_, _, thread)) = index.seen(row.rank) else { return };
    let (from_ns, to_ns) = (selection.from.0, selection.to.0);
    // Several calls to each pixel: shares tell more.
    if index.rows_within(row.rank, from_ns, to_ns) > 2 * row.across.len() as u64 + 4_096 {
        return;
    }
    let name_pen = Pen::regular((0.72 * text).max(9.0).min(0.62 * row.down.len() as f32));
    let scale = row.across.len() as f64 / selection.length().0.max(1) as f64;
    let place = |ns: i64| (ns.clamp(from_ns, to_ns) - from_ns) as f64 * scale;
    let mut last_end = usize::MAX;
    index.each(row.rank, from_ns, to_ns, |call| {
        let kind =
            index.kinds().get(call.kind as usize).filter(|kind| kind.thread == thread && !kind.is_part());
        let (begin, end) = (place(call.start_ns), place(call.end_ns));
        let Some(kind) = kind.filter(|_| end - begin >= NARROWEST) else { return };
        let (begin, end) =
            (row.across.start + begin.round() as usize, row.across.start + end.round() as usize);
        let colour = theme.categories[kind.category() as usize];
        canvas.fill(begin, row.down.start, end - begin, row.down.len(), colour);
        if end - begin >= SET_APART && begin <= last_end.saturating_add(1) && begin >= last_end {
            (row.down.clone()).for_each(|y| canvas.blend(begin, y, theme.background, 0.55));
        }
        last_end = end;
        let name = kind.op().name().trim_start_matches('P').trim_start_matches("MPI_");
        let room = (end - begin) as f32 - 0.5 * name_pen.size;
        if name_pen.size >= SMALLEST_NAME && name_pen.width(name) <= room {
            let (x, y) = ((begin + end) as f32 / 2.0, (row.down.start + row.down.end) as f32 / 2.0);
            name_pen.write_centred(canvas, x, y + 0.36 * name_pen.size, name, ink_on(colour));
        }
    });
}
