//! The rows of a trace: parts of some ranks each, sealed side by side.
//!
//! How ranks are divided into parts depends on how much they have recorded and how many work at it, and on nothing else, so
//! that processes that share the work divide it alike.

use super::causality::Repairs;
use super::rank::{RankInput, RankOutcome, seal_rank};
use super::requests::OpenReceives;
use super::{Progress, SealOptions, Sources};
use kizami_reduced::{Importance, ReduceOptions, sum_missing};
use kizami_sequence::Sizes;
use kizami_summary::BLOCK_BYTES;
use kizami_trace::TraceError;
use kizami_trace::columns::WrittenFile;
use kizami_trace::definitions::Stop;
use kizami_trace::run::{Missing, Reduced, Totals};
use kizami_trace::schema::EVENTS_FOLDER;
use kizami_trace::write::{OpTotals, PartWriter, Shared};
use rayon::prelude::*;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Segments of a part, in bytes, at most, unless a single rank has more.
const LARGEST_PART: u64 = 1 << 30;
/// Segments of a part, in bytes, below which splitting is not worth it.
const SMALLEST_PART: u64 = 1 << 20;
/// Parts for each worker, so that they end at about the same time.
const PARTS_PER_WORKER: u64 = 4;
/// How often progress is reported.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// What came of parts.
#[derive(Default)]
pub(crate) struct Sealed {
    /// In the order of ranks.
    pub outcomes: Vec<RankOutcome>,
    pub totals: OpTotals,
    pub files: Vec<WrittenFile>,
}

impl Sealed {
    /// What came of the parts behind these.
    pub(crate) fn add(&mut self, more: Sealed) {
        self.outcomes.extend(more.outcomes);
        self.totals.add(&more.totals);
        self.files.extend(more.files);
    }

    /// The parts with rows of calls.
    pub(crate) fn events(&self) -> Vec<PathBuf> {
        let in_events = |path: &Path| path.parent().is_some_and(|folder| folder.ends_with(EVENTS_FOLDER));
        self.files.iter().map(|file| file.path.clone()).filter(|path| in_events(path)).collect()
    }

    /// What was kept, if rows were kept only in part.
    pub(crate) fn kept(&self, requested: Option<ReduceOptions>, totals: &Totals) -> Option<Reduced> {
        let provenance = Reduced {
            rows_kept: totals.events,
            calls: totals.calls,
            ..requested.map(|requested| requested.provenance()).unwrap_or_default()
        };
        let reduced = || self.outcomes.iter().filter_map(|outcome| outcome.reduced.as_ref());
        reduced().next()?;
        Some(Reduced {
            importance: Importance::Classes.name().to_owned(),
            sums_exact: reduced().all(|rank| rank.whole),
            missing: reduced().fold(Missing::default(), |sum, rank| sum_missing(sum, rank.missing)),
            block_bytes: (BLOCK_BYTES + Sizes::default().bytes()) as u64,
            ..provenance
        })
    }

    pub(crate) fn stops(&self) -> Vec<Stop> {
        let mut stops: Vec<Stop> = self.outcomes.iter().flat_map(|outcome| outcome.stops.clone()).collect();
        stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
        stops
    }
}

/// Seals the parts that are for this process.
pub(crate) fn seal_parts(
    sources: &Sources<'_>,
    repairs: &Repairs,
    folder: &Path,
    options: &SealOptions,
    progress: &dyn Fn(Progress),
) -> Result<Sealed, TraceError> {
    let sizes: Vec<u64> =
        sources.recorded.ranks.iter().map(|process| process.as_ref().map_or(0, |p| p.call_bytes())).collect();
    let parts = split(&sizes, sources.sharing.workers);
    let own = sources.sharing.own(parts.len());
    let total_bytes = parts[own.clone()].iter().map(|ranks| sizes[ranks.clone()].iter().sum::<u64>()).sum();
    let shared = Arc::new(Shared::default());
    let tell = || {
        progress(Progress {
            done_bytes: shared.done_bytes.load(Ordering::Relaxed).min(total_bytes),
            total_bytes,
            events: shared.events.load(Ordering::Relaxed),
        });
    };
    // The callback need not be shareable between threads, so the work goes elsewhere and this thread reports.
    let results: Vec<Result<Sealed, TraceError>> = std::thread::scope(|scope| {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let (parts, shared) = (&parts, &shared);
        let work = scope.spawn(move || {
            let _done_when_dropped = done;
            let sealed = |number: usize| {
                seal_part(sources, repairs, (folder, number), options, parts[number].clone(), shared)
            };
            own.into_par_iter().map(sealed).collect()
        });
        while wait.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout) {
            tell();
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let mut sealed = Sealed::default();
    for result in results {
        sealed.add(result?);
    }
    tell();
    Ok(sealed)
}

fn seal_part(
    sources: &Sources<'_>,
    repairs: &Repairs,
    (folder, number): (&Path, usize),
    options: &SealOptions,
    ranks: Range<usize>,
    shared: &Arc<Shared>,
) -> Result<Sealed, TraceError> {
    let counters = sources.names.counted();
    let mut part = PartWriter::create(folder, number, counters, options.window_rows.max(1), shared.clone())?;
    let mut open = OpenReceives::new();
    let mut outcomes = Vec::new();
    for rank in ranks {
        let Some(process) = &sources.recorded.ranks[rank] else { continue };
        let bytes = process.call_bytes();
        part.begin_rank(bytes / kizami_segment::SLOT_BYTES as u64)?;
        let host = sources.clock.host_of_process(process);
        let Some(host) = host.and_then(|host| sources.clock.hosts.get(host)) else { continue };
        let input = RankInput {
            rank: rank as u32,
            process,
            names: &sources.names.processes[rank],
            communicators: &sources.names.communicators,
            clock: host.rank_clock(repairs.of(rank)),
            all_recorded: sources.names.all_recorded,
        };
        outcomes.push(seal_rank(&input, &mut open, &mut part)?);
        part.end_rank(bytes)?;
    }
    let (totals, files) = part.finish()?;
    Ok(Sealed { outcomes, totals, files })
}

/// Contiguous ranges of ranks with about the same amount of work.
fn split(sizes: &[u64], workers: u64) -> Vec<Range<usize>> {
    let total: u64 = sizes.iter().sum();
    let target = (total / (workers * PARTS_PER_WORKER).max(1)).clamp(SMALLEST_PART, LARGEST_PART);
    let mut parts = Vec::new();
    let (mut start, mut filled) = (0, 0);
    for (rank, size) in sizes.iter().enumerate() {
        // Half a rank too much is better than half a rank too little.
        if rank > start && filled + size / 2 >= target {
            parts.push(start..rank);
            (start, filled) = (rank, 0);
        }
        filled += size;
    }
    parts.push(start..sizes.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_ranks_in_order() {
        for sizes in [vec![], vec![5 << 20; 16], vec![1; 100_000], vec![1 << 34, 1, 1, 1 << 33]] {
            let parts = split(&sizes, 2);
            let covered: Vec<usize> = parts.iter().cloned().flatten().collect();
            assert_eq!(covered, (0..sizes.len()).collect::<Vec<_>>());
            assert!(parts.len() < 100);
        }
        assert_eq!(split(&[5 << 20; 16], 2).len(), 8);
        assert_eq!(split(&[1; 100_000], 2).len(), 1);
    }
}
