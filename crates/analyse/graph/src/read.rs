//! The event graph of a trace: loaded from the cache in `derived/`, or built from all rows.
//!
//! Ranks are divided into as many partitions as there are threads. Partitions are read in parallel and merged.

use crate::build::Builder;
use crate::{Clocks, Graph, GraphError, cache};
use kizami_model::{Call, Length};
use kizami_parallel::map;
use kizami_trace::{Definitions, RankSelection, Trace};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use tracing::field::Empty;

/// Sees the rows of some ranks as they are read, in their order.
pub trait RowObserver: Send {
    /// The next row.
    fn row(&mut self, call: &Call);
}

/// Looks at nothing.
impl RowObserver for () {
    fn row(&mut self, _call: &Call) {}
}

/// The graph of a trace: as it was kept in `derived/`, or made by reading all rows. `progress` is called with how many rows are
/// done.
pub fn build(trace: &Trace, threads: usize, progress: &(dyn Fn(u64) + Sync)) -> Result<Graph, GraphError> {
    let phase =
        tracing::info_span!("graph", rows = trace.run().totals.events, threads, cache = Empty, bytes = Empty)
            .entered();
    if let Some(graph) = cache::load(trace) {
        phase.record("cache", "hit");
        return Ok(graph);
    }
    phase.record("cache", "miss");
    let (graph, _) = read(trace, threads, || (), progress)?;
    phase.record("bytes", size_of_val(&graph.steps[..]) + size_of_val(&graph.ties[..]));
    cache::save(trace, &graph);
    Ok(graph)
}

/// The graph of a trace in which times of different ranks do not fit together. It is not kept.
pub fn build_unaligned(
    trace: &Trace,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Graph, GraphError> {
    Ok(read_with(trace, Clocks::Unaligned, threads, || (), progress)?.0)
}

/// The graph by reading all rows in any case. `observer` is called once for each partition of the ranks, in their order.
pub fn read<O: RowObserver>(
    trace: &Trace,
    threads: usize,
    observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Graph, Vec<O>), GraphError> {
    read_with(trace, clocks(trace), threads, observer, progress)
}

/// The graph of rows that are in no trace, rank by rank, each in the order of their start; their times need not fit together.
pub fn of_rows<'a>(definitions: &Definitions, rows: impl IntoIterator<Item = &'a Call>) -> Graph {
    let mut builder = Builder::new(definitions, &[]).with_clocks(Clocks::Unaligned);
    rows.into_iter().for_each(|row| builder.call(row));
    builder.finish()
}

/// How far times of different hosts may be off.
fn clocks(trace: &Trace) -> Clocks {
    let clocks = &trace.run().clocks;
    let error = Length(clocks.bound_ns.unwrap_or(0));
    Clocks::Aligned { between_hosts: clocks.aligned.then(|| error.saturating_add(error)) }
}

fn read_with<O: RowObserver>(
    trace: &Trace,
    clocks: Clocks,
    threads: usize,
    mut observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Graph, Vec<O>), GraphError> {
    let definitions = trace.definitions()?;
    let mut stops = trace.stops()?;
    stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
    let done = AtomicU64::new(0);
    let share = |ranks: RangeInclusive<u32>, mut observer: O, tell: &dyn Fn(u64)| {
        let mut builder = Builder::new(&definitions, &stops).with_clocks(clocks);
        let mut calls = trace.calls(RankSelection::Range(ranks))?;
        loop {
            let batch = calls.next_batch()?;
            if batch.is_empty() {
                return Ok::<_, GraphError>((builder, observer));
            }
            for call in batch {
                observer.row(call);
                builder.call(call);
            }
            let rows = batch.len() as u64;
            tell(done.fetch_add(rows, Ordering::Relaxed) + rows);
        }
    };
    // Counts of rank classes are for all of their ranks together.
    let most = if trace.run().is_stored_by_rank_class() { 1 } else { threads };
    let calls = trace.run().rank_summaries.iter().map(|rank| (rank.rank, rank.calls));
    let listed = calls.len() > 0;
    let shares = if listed { shares(calls, most) } else { even_shares(trace.run().ranks, most) };
    let shares = if shares.is_empty() { vec![0..=u32::MAX] } else { shares };
    let observed: Vec<_> =
        shares.into_iter().enumerate().map(|(number, ranks)| (number, ranks, observer())).collect();
    // All know how far all are; one reports.
    let read = map(observed, |(number, ranks, observer)| {
        if number == 0 { share(ranks, observer, progress) } else { share(ranks, observer, &|_| {}) }
    });
    let (mut builders, mut observers) = (Vec::with_capacity(read.len()), Vec::with_capacity(read.len()));
    for part in read {
        let (builder, observer) = part?;
        builders.push(builder);
        observers.push(observer);
    }
    let first = builders.remove(0);
    Ok((first.finish_with(builders).0, observers))
}

/// Stretches of ranks with about as many calls each, one behind the other; all ranks are in one of them.
fn shares(calls: impl Iterator<Item = (u32, u64)> + Clone, most: usize) -> Vec<RangeInclusive<u32>> {
    let each = (calls.clone().map(|(_, calls)| calls).sum::<u64>() / most.max(1) as u64).max(1);
    let (mut first, mut before, mut shares) = (0, 0, Vec::new());
    for (rank, calls) in calls {
        let full = before >= each * (shares.len() as u64 + 1);
        if full && rank > first && shares.len() + 1 < most {
            shares.push(first..=rank - 1);
            first = rank;
        }
        before += calls;
    }
    shares.push(first..=u32::MAX);
    shares
}

/// The same where the calls of each rank are unknown: runs do not list more than some ranks.
fn even_shares(ranks: u32, most: usize) -> Vec<RangeInclusive<u32>> {
    let count = ranks.clamp(1, most.clamp(1, u32::MAX as usize) as u32);
    let first = |share: u32| (u64::from(ranks) * u64::from(share) / u64::from(count)) as u32;
    let last = |share: u32| if share + 1 < count { first(share + 1) - 1 } else { u32::MAX };
    (0..count).map(|share| first(share)..=last(share)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_in_one_share() {
        let shares_of = |calls: &[u64], most: usize| shares((0..).zip(calls.iter().copied()), most);
        assert_eq!(shares_of(&[5, 5, 5, 5], 2), [0..=1, 2..=u32::MAX]);
        assert_eq!(shares_of(&[100, 1, 1, 1], 3), [0..=0, 1..=1, 2..=u32::MAX]);
        assert_eq!(shares_of(&[1, 1, 100], 2), [0..=u32::MAX]);
        assert_eq!(shares_of(&[0, 0], 4), [0..=u32::MAX]);
        assert_eq!(shares_of(&[], 4), [0..=u32::MAX]);
        assert_eq!(shares_of(&[1; 8], 1), [0..=u32::MAX]);
        assert_eq!(shares_of(&[1; 8], 64).len(), 8);
        assert_eq!(even_shares(0, 2), [0..=u32::MAX]);
        assert_eq!(even_shares(5, 2), [0..=1, 2..=u32::MAX]);
        assert_eq!(even_shares(2, 64), [0..=0, 1..=u32::MAX]);
        assert_eq!(even_shares(u32::MAX, 1), [0..=u32::MAX]);
    }
}
