//! Makes the trace of a halo exchange of any size, with exactly known times, to measure what reads traces.
//!
//! ```text
//! cargo run --release -p kizami-store --example make_stencil -- OUT.kz [calls] [ranks]
//! ```
//!
//! See `kizami_sample::Stencil` for what each rank does.

#[path = "../tests/segments/mod.rs"]
mod segments;

use kizami_model::Peer;
use kizami_sample::{Costs, Stencil};
use kizami_segment::Completion;
use kizami_segment::record::CallRecord;
use kizami_store::{SealOptions, seal};
use segments::{SegmentWriter, Who, call, define};
use std::path::{Path, PathBuf};

const CALLS_PER_ITERATION: u64 = 10;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let output: PathBuf = arguments.next().expect("a name for the trace").into();
    let calls: u64 = arguments.next().map_or(50_000_000, |text| text.parse().expect("a number of calls"));
    let ranks: u32 = arguments.next().map_or(1_024, |text| text.parse().expect("a number of ranks"));
    let iterations = calls / u64::from(ranks) / CALLS_PER_ITERATION;
    let stencil = Stencil::new(ranks, iterations, Costs::default());
    for rank in 0..ranks {
        write_rank(&output, rank, &stencil);
    }
    let run = seal(&output, &SealOptions::default(), &|_| {}).expect("a sealed trace");
    println!("{}: {} events of {ranks} ranks", output.display(), run.totals.events);
}

fn write_rank(trace: &Path, rank: u32, stencil: &Stencil) {
    let mut who = Who::rank(rank, stencil.ranks);
    who.last_ticks = who.base_ticks + stencil.end().0 as u64;
    define(trace, &who, &[]);
    let mut segment = SegmentWriter::create(trace, &who, Some(0));
    for row in stencil.rank(rank) {
        let (start, length) = (row.start.0 as u64, (row.end.0 - row.start.0) as u64);
        let like = call(row.op.name(), start, length);
        if let (Some(first), count) = (row.completes.first(), row.completes.len() as u32) {
            // Requests are counted in 32 bits in raw segments, and go on counting.
            segment.completion(&like, &[Completion::AsPosted { request: *first as u32, count }]);
            continue;
        }
        let peer = match row.peer {
            Peer::Rank(peer) => peer.0 as i32,
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
