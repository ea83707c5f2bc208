//! What `run.json` says that follows from what was written: sums, ranks in short, files.

use super::totals::OpTotals;
use crate::definitions::{HostInfo, RankInfo};
use crate::run::{FileEntry, RANKS_IN_RUN_JSON, RankSummary, Totals};
use kizami_columns::WrittenFile;
use std::path::Path;

/// Sums over everything.
pub fn sums(totals: &OpTotals, ranks: &[RankInfo]) -> Totals {
    let sum = totals.sum();
    Totals {
        events: sum.rows,
        calls: sum.calls,
        bytes_out: sum.bytes_out,
        bytes_in: sum.bytes_in,
        mpi_ns: sum.total_ns,
        overhead_ns: sum.overhead_ns,
        lost_calls: ranks.iter().map(|rank| rank.lost_calls).fold(0, u64::saturating_add),
    }
}

/// The ranks in short, unless there are too many of them.
pub fn summaries(ranks: &[RankInfo], hosts: &[HostInfo]) -> Vec<RankSummary> {
    if ranks.len() > RANKS_IN_RUN_JSON {
        return Vec::new();
    }
    let summary = |rank: &RankInfo| RankSummary {
        rank: rank.rank.0,
        host: rank.host.and_then(|host| hosts.get(host as usize)).map_or("", |host| &host.name).to_owned(),
        ending: rank.ending.name().to_owned(),
        last_call: rank.last_call.clone(),
        calls: rank.calls,
        mpi_ns: rank.mpi.0,
    };
    ranks.iter().map(summary).collect()
}

/// A file of a trace, for the list.
pub fn entry(file: &WrittenFile, folder: &Path) -> FileEntry {
    let path = file.path.strip_prefix(folder).unwrap_or(&file.path);
    FileEntry { path: path.to_string_lossy().into_owned(), bytes: file.bytes, crc32: file.crc32 }
}
