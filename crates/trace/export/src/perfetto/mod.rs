//! Perfetto: a `.pftrace` file for <https://ui.perfetto.dev> and its SQL.
//!
//! What becomes what:
//! - a rank is a process named `rank N`, in the order of ranks, labelled with its host; a thread is a thread;
//! - a row is a slice named after its function, its category the function's family, with peer, tag, bytes,
//!   communicator, root, request, call site and call path as arguments. Failed polls that were folded into one row are
//!   one slice with their number in `calls`; sampled rows have theirs in `weight`;
//! - a region the program marked is a slice around the slices of its calls;
//! - a message is a flow: an arrow from the slice that sent it to the instant `received` at the end of the
//!   slice in which its receive completed.
//!
//! Process and thread ids are made from ranks and thread numbers, since ids of different hosts may be the
//! same. Arrows need no memory for matching (`traffic` says when they are wrong); a message whose send
//! appears to begin after its receive ended, by clocks that do not agree, has none. A reduced trace has none at all: rows
//! are missing, and messages cannot be counted.

mod flows;
mod names;
mod packets;
mod schema;

use super::source::Source;
use super::unfold::unfold;
use super::{ExportProgress, Summary};
use crate::ExportError;
use crate::output::Output;
use kizami_trace::Trace;
use kizami_traffic::Numbering;
use packets::Packets;
use std::path::Path;

/// Writes `trace` to the file `out`, or to standard output if that is `-`.
pub fn export(trace: &Trace, out: &Path, progress: ExportProgress) -> Result<Summary, ExportError> {
    write(Source::of(trace)?, out, progress)
}

fn write(source: Source, out: &Path, progress: ExportProgress) -> Result<Summary, ExportError> {
    let Source { definitions, rows, whole, .. } = source;
    let mut packets = Packets::new(Output::create(out)?, &definitions)?;
    packets.arrows = whole;
    let unfolded = unfold(rows, &definitions.ranks, &mut packets, Numbering::On, out, progress)?;
    let (written, sends, receives) = (packets.written, packets.sends, packets.receives);
    packets.finish()?;
    Ok(Summary { rows: unfolded.rows, written, sends, receives, left_out: unfolded.left_out })
}

#[cfg(test)]
mod tests;
