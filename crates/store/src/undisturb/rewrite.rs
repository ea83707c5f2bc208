//! Second pass: the same rows with their new times, through the writer that sealing uses.
//!
//! Parts keep their ranks. Threads of one rank may have lost different amounts, so their rows may come in
//! another order than before; rows are held back until no thread can bring an earlier one.

use super::gather::ThreadSteps;
use super::marks::{Marks, MovedRow};
use super::spool::Spool;
use crate::calls::Calls;
use crate::columns::WrittenFile;
use crate::definitions::{RankInfo, RegionSpan, Stop};
use crate::schema::{COUNTERS_FOLDER, EVENTS_FOLDER, REGIONS_FOLDER, part_name};
use crate::seal::counted::CountedTable;
use crate::seal::part::{OpTotals, PartWriter, Shared};
use crate::seal::rows::Row;
use crate::{RankSelection, StoreError};
use kizami_model::{Call, Nanos};
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

/// Rows of a row group, as in sealing.
const WINDOW_ROWS: usize = 256 << 10;

/// What rows are rewritten from.
pub(super) struct Source<'a> {
    pub spool: &'a Spool,
    pub threads: &'a [ThreadSteps],
    pub parts: &'a [(PathBuf, u64)],
    /// By rank.
    pub regions: &'a [RegionSpan],
    pub stops: &'a [Stop],
}

/// What became of them.
pub(super) struct Rewritten {
    pub files: Vec<WrittenFile>,
    pub totals: OpTotals,
    pub stops: Vec<Stop>,
}

/// Writes all parts below `folder`; brings `ranks` up to date.
pub(super) fn rewrite(
    source: &Source<'_>,
    folder: &Path,
    ranks: &mut [RankInfo],
    progress: &dyn Fn(u64),
) -> Result<Rewritten, StoreError> {
    let shared = Shared::default();
    let mut all = Rewritten { files: Vec::new(), totals: OpTotals::default(), stops: Vec::new() };
    let mut rows = 0;
    for (number, (path, first_step)) in source.parts.iter().enumerate() {
        let events = folder.join(EVENTS_FOLDER).join(part_name(number));
        let regions = folder.join(REGIONS_FOLDER).join(part_name(number));
        // What was counted stays with the recording: it belongs to the times as they were.
        let nothing_counted = CountedTable::new(&folder.join(COUNTERS_FOLDER), Vec::new());
        let mut part = PartWriter::create(&events, &regions, nothing_counted, WINDOW_ROWS, &shared)?;
        let mut rank: Option<RankRows> = None;
        let calls = Calls::new(vec![path.clone()], &RankSelection::All);
        for (step, call) in (*first_step..).zip(calls) {
            let call = call?;
            if rank.as_ref().is_none_or(|rank| rank.rank != call.rank.0) {
                end_rank(rank.take(), &mut part, ranks, &mut all.stops)?;
                rank = Some(RankRows::new(source, call.rank.0));
            }
            if let Some(rank) = &mut rank {
                rank.row(source.spool, call, step);
                rank.write_ready(&mut part)?;
            }
            rows += 1;
            if rows % (1 << 16) == 0 {
                progress(rows);
            }
        }
        end_rank(rank, &mut part, ranks, &mut all.stops)?;
        let (totals, files) = part.finish()?;
        all.totals.add(&totals);
        all.files.extend(files);
    }
    all.stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
    Ok(all)
}

fn end_rank(
    rank: Option<RankRows>,
    part: &mut PartWriter<'_>,
    ranks: &mut [RankInfo],
    stops: &mut Vec<Stop>,
) -> Result<(), StoreError> {
    let Some(mut rank) = rank else { return Ok(()) };
    rank.next_starts.clear();
    rank.write_ready(part)?;
    rank.marks.finish();
    part.regions.append(&mut rank.marks.regions);
    stops.append(&mut rank.marks.stops);
    if let Some(info) = ranks.get_mut(rank.rank as usize) {
        (info.first, info.last) = (rank.first_ns.map(Nanos), rank.last_ns.map(Nanos));
        info.mpi = Nanos(rank.mpi_ns);
    }
    part.end_rank(0)
}

/// The rows of one rank on their way.
struct RankRows {
    rank: u32,
    held: BinaryHeap<Held>,
    /// When the next row of each thread starts; threads without one are not in it.
    next_starts: Vec<(u32, i64)>,
    marks: Marks,
    rows: u64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    mpi_ns: i64,
}

/// A row that is held back. The earliest is the greatest, as heaps give the greatest first.
struct Held {
    start_ns: i64,
    number: u64,
    call: Call,
}

impl Ord for Held {
    fn cmp(&self, other: &Held) -> std::cmp::Ordering {
        (other.start_ns, other.number).cmp(&(self.start_ns, self.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Held {}

impl RankRows {
    fn new(source: &Source<'_>, rank: u32) -> RankRows {
        let regions = of_rank(source.regions, rank, |region| region.rank.0);
        let stops = of_rank(source.stops, rank, |stop| stop.rank.0);
        let threads = of_rank(source.threads, rank, |thread| thread.rank);
        let next = |thread: &ThreadSteps| (thread.thread, source.spool.step(thread.first_step).start_ns);
        RankRows {
            rank,
            held: BinaryHeap::new(),
            next_starts: threads.iter().map(next).collect(),
            marks: Marks::new(regions, stops),
            rows: 0,
            first_ns: None,
            last_ns: None,
            mpi_ns: 0,
        }
    }

    /// Gives a row its new times and holds it.
    fn row(&mut self, spool: &Spool, mut call: Call, index: u64) {
        let step = spool.step(index);
        let old = (call.start.0, call.end.0);
        let new = (step.start_ns, step.end_ns);
        self.marks.row(call.thread.0, MovedRow { old, new });
        (call.start, call.end) = (Nanos(new.0), Nanos(new.1));
        let length_ns = new.1.saturating_sub(new.0);
        call.inside = call.inside.map(|inside| Nanos(inside.0.min(length_ns)));
        call.overhead = Nanos(0);
        let inside_ns = call.inside.filter(|_| call.calls > 1).map_or(length_ns, |inside| inside.0);
        self.mpi_ns = self.mpi_ns.saturating_add(inside_ns);
        self.first_ns = Some(self.first_ns.map_or(new.0, |first| first.min(new.0)));
        self.last_ns = Some(self.last_ns.map_or(new.1, |last| last.max(new.1)));
        self.rows += 1;
        let thread = call.thread.0;
        self.held.push(Held { start_ns: new.0, number: self.rows, call });
        self.next_starts.retain_mut(|(of, next_ns)| {
            if *of != thread {
                return true;
            }
            *next_ns = spool.step(index + step.next).start_ns;
            step.next > 0
        });
    }

    /// Writes the rows that no thread can bring an earlier one than.
    fn write_ready(&mut self, part: &mut PartWriter<'_>) -> Result<(), StoreError> {
        let earliest_ns = self.next_starts.iter().map(|(_, next_ns)| *next_ns).min().unwrap_or(i64::MAX);
        while let Some(held) = self.held.peek()
            && held.start_ns <= earliest_ns
        {
            let Some(Held { call, .. }) = self.held.pop() else { break };
            part.rows.completes.extend(call.completes.iter().map(|request| *request as i64));
            part.rows.push(&Row::of_call(&call));
            if part.is_full() {
                part.flush()?;
            }
        }
        Ok(())
    }
}

/// The entries of one rank, of a list that is in the order of ranks.
fn of_rank<T>(list: &[T], rank: u32, rank_of: impl Fn(&T) -> u32) -> &[T] {
    let begin = list.partition_point(|entry| rank_of(entry) < rank);
    let end = list.partition_point(|entry| rank_of(entry) <= rank);
    &list[begin..end]
}
