//! Made-up runs as sealed traces.

#![allow(dead_code, reason = "each test needs only some of it")]

use kizami_model::{Call, Peer};
use kizami_records::{CallRecord, Completion};
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_testing::{Act, Costs, Script, Stencil};
use kizami_trace::{RankSelection, Trace};
use std::path::Path;

/// Writes the rows of one rank as its segment.
pub fn write_rank(trace: &Path, who: &SegmentOwner, rows: impl Iterator<Item = Call>) {
    define(trace, who, &[]);
    let mut segment = SegmentWriter::create(trace, who, Some(0));
    for row in rows {
        let (start, length) = (row.start.0 as u64, (row.end.0 - row.start.0) as u64);
        let like = call(row.op.name(), start, length);
        if let (Some(first), count) = (row.completes.first(), row.completes.len() as u32) {
            segment.completion(&like, &[Completion::AsPosted { request: *first as u32, count }]);
            continue;
        }
        let peer = match (row.peer, row.root) {
            (Peer::Rank(peer), _) | (_, Peer::Rank(peer)) => peer.0 as i32,
            _ => like.peer,
        };
        segment.call(&CallRecord {
            comm: 0,
            peer,
            tag: row.tag.unwrap_or(like.tag),
            bytes_in: row.bytes_in.unwrap_or(0),
            bytes_out: row.bytes_out.unwrap_or(0),
            request: row.request.unwrap_or(0) as u32,
            ..like
        });
    }
    segment.finish();
}

/// Seals what was written.
pub fn sealed(path: &Path) -> Trace {
    seal(path, &SealOptions::default(), &|_| {}).expect("a sealed trace");
    Trace::open(path).expect("a trace")
}

/// A halo exchange as a trace.
pub fn stencil(path: &Path, ranks: u32, iterations: u64) -> (Stencil, Trace) {
    let stencil = Stencil::new(ranks, iterations, Costs::default());
    for rank in 0..ranks {
        let mut who = SegmentOwner::rank(rank, ranks);
        who.last_ticks = who.base_ticks + stencil.end().0 as u64;
        write_rank(path, &who, stencil.rank(rank));
    }
    (stencil, sealed(path))
}

/// A script as a trace.
pub fn script(path: &Path, acts: Vec<Vec<Act>>) -> Trace {
    let ranks = acts.len() as u32;
    let rows = Script { acts, costs: Costs::default() }.run();
    for rank in 0..ranks {
        let mut who = SegmentOwner::rank(rank, ranks);
        who.last_ticks = who.base_ticks + 1_000_000_000;
        write_rank(path, &who, rows.iter().filter(|row| row.rank.0 == rank).cloned());
    }
    sealed(path)
}

/// All rows of a trace.
pub fn rows(trace: &Trace) -> Vec<Call> {
    trace.calls(RankSelection::All).unwrap().map(|row| row.unwrap()).collect()
}
