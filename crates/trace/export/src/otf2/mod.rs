//! OTF2: the archive that Vampir, Scalasca, Pipit and `otf2-print` read.
//!
//! Written by the OTF2 library itself, so it is as good as any archive of a measurement system. The library
//! is opened when an export begins; Debian's package is `libopen-trace-format2-10`.
//!
//! What becomes what:
//! - a rank is a location group, each of its threads a location, on its host in the system tree;
//! - a row is an `Enter` and a `Leave`; the `Enter` carries call site and call path as attributes. Failed polls that
//!   were folded into one row stay one pair, with their number in the attribute `calls`; sampled rows have
//!   theirs in `weight`;
//! - a region the program marked is an `Enter` and a `Leave` around the calls in it;
//! - messages are `MpiSend` and `MpiRecv`, or `MpiIsend`, `MpiIsendComplete`, `MpiIrecvRequest` and
//!   `MpiIrecv`, each in the call in which it happened: a receive is written where it was completed. Started
//!   persistent requests and the halves of a send-receive count as messages, too;
//! - collectives are `MpiCollectiveBegin` and `End`, or `NonBlockingCollectiveRequest` and `Complete`.
//!
//! Left out: collectives among neighbours and persistent collectives (entry and exit only), one-sided and
//! file operations beyond their calls, clock offsets (times are on one clock already), messages whose peer is
//! unknown. A member of a communicator that left no definition is undefined in its group, of which
//! `otf2-print` warns.

mod archive;
mod comm_ranks;
mod definitions;
mod events;
mod library;
mod roles;

use super::source::Source;
use super::unfold::unfold;
use super::{ExportProgress, Summary};
use crate::ExportError;
use archive::{Archive, Global};
use events::EventFiles;
use kizami_trace::Trace;
use kizami_traffic::Numbering;
use std::path::Path;

/// Writes `trace` as an archive into the new directory `out`; its anchor file is `out/traces.otf2`.
pub fn export(trace: &Trace, out: &Path, progress: ExportProgress) -> Result<Summary, ExportError> {
    write(Source::of(trace)?, out, progress)
}

fn write(source: Source, out: &Path, progress: ExportProgress) -> Result<Summary, ExportError> {
    if out.exists() {
        let what = "it exists already; choose another name or remove it first".to_owned();
        return Err(ExportError::Export { path: out.to_path_buf(), what });
    }
    let Source { title, started_unix_ns, span_ns, definitions: tables, rows, .. } = source;
    let archive = Archive::create(out, tables.ranks.len(), &title)?;
    let mut events = EventFiles::new(&archive, &tables);
    let unfolded = unfold(rows, &tables.ranks, &mut events, Numbering::Off, out, progress)?;
    let EventFiles { used, sends, receives, left_out, .. } = events;
    archive.finish_events(used.locations.iter().map(|location| definitions::location(location.place)))?;
    let clock = Global::Clock { length: definitions::length(&tables, span_ns), started_unix_ns };
    archive.finish(|writer| definitions::define(writer, clock, &tables, &used))?;
    let written = used.locations.iter().map(|location| location.events).sum();
    Ok(Summary { rows: unfolded.rows, written, sends, receives, left_out: unfolded.left_out + left_out })
}

#[cfg(test)]
mod tests;
