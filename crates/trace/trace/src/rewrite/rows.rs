//! Rows with their new times, through the writer that sealing uses.
//!
//! Parts keep their ranks. Threads of one rank may have moved by different amounts, so their rows may come in
//! another order than before; rows are held back until no thread can bring an earlier one.

use crate::Calls;
use crate::columns::WrittenFile;
use crate::definitions::{RankInfo, RegionSpan, Stop};
use crate::rewrite::marks::{Marks, MovedRow};
use crate::rewrite::{Manner, NewTimes};
use crate::write::{OpTotals, PartWriter, Row, Shared, WINDOW_ROWS};
use crate::{RankSelection, TraceError};
use kizami_model::{Call, Length, Moment, Rank};
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What rows are rewritten from.
pub(super) struct Source<'a> {
    pub new: &'a dyn NewTimes,
    pub manner: Manner,
    /// The files of `events/`, in order.
    pub parts: &'a [PathBuf],
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
) -> Result<Rewritten, TraceError> {
    let shared = Arc::new(Shared::default());
    let mut all = Rewritten { files: Vec::new(), totals: OpTotals::default(), stops: Vec::new() };
    let mut rows: u64 = 0;
    for (number, path) in source.parts.iter().enumerate() {
        let mut part = PartWriter::create(folder, number, Vec::new(), WINDOW_ROWS, shared.clone())?;
        let mut rank: Option<RankRows> = None;
        let calls = Calls::of_files(vec![path.clone()], &RankSelection::All);
        for call in calls {
            let call = call?;
            if rank.as_ref().is_none_or(|rank| rank.rank != call.rank.0) {
                end_rank(rank.take(), &mut part, ranks, &mut all.stops)?;
                rank = Some(RankRows::new(source, call.rank));
            }
            if let Some(rank) = &mut rank {
                rank.row(source, call, rows);
                rank.write_ready(&mut part)?;
            }
            rows += 1;
            if rows.is_multiple_of(1 << 16) {
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
    part: &mut PartWriter,
    ranks: &mut [RankInfo],
    stops: &mut Vec<Stop>,
) -> Result<(), TraceError> {
    let Some(mut rank) = rank else { return Ok(()) };
    rank.next_starts.clear();
    rank.write_ready(part)?;
    rank.marks.finish();
    part.regions().append(&mut rank.marks.regions);
    stops.append(&mut rank.marks.stops);
    if let Some(info) = ranks.get_mut(rank.rank as usize) {
        (info.first, info.last) = (rank.first_ns.map(Moment), rank.last_ns.map(Moment));
        info.mpi = Length(rank.mpi_ns);
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
    fn new(source: &Source<'_>, rank: Rank) -> RankRows {
        let regions = of_rank(source.regions, rank, |region| region.rank);
        let stops = of_rank(source.stops, rank, |stop| stop.rank);
        let first = |(thread, row): (u32, u64)| (thread, source.new.of_row(row).0);
        RankRows {
            rank: rank.0,
            held: BinaryHeap::new(),
            next_starts: source.new.threads_of(rank).into_iter().map(first).collect(),
            marks: Marks::new(regions, stops, source.manner),
            rows: 0,
            first_ns: None,
            last_ns: None,
            mpi_ns: 0,
        }
    }

    /// Gives a row its new times and holds it.
    fn row(&mut self, source: &Source<'_>, mut call: Call, index: u64) {
        let old = (call.start.0, call.end.0);
        let new = source.new.of_row(index);
        self.marks.row(call.thread.0, MovedRow { old, new });
        (call.start, call.end) = (Moment(new.0), Moment(new.1));
        let length_ns = new.1.saturating_sub(new.0);
        // Polls that go on for longer do so inside of the library.
        let longer_ns = length_ns.saturating_sub(old.1.saturating_sub(old.0)).max(0);
        call.inside = call.inside.map(|inside| Length(inside.0.saturating_add(longer_ns).min(length_ns)));
        if source.manner.without_tracer {
            call.overhead = Length::ZERO;
        }
        if source.manner.own_cores {
            (call.off_core, call.off_core_before) = (None, None);
        }
        let inside_ns = call.inside.filter(|_| call.calls > 1).map_or(length_ns, |inside| inside.0);
        self.mpi_ns = self.mpi_ns.saturating_add(inside_ns);
        self.first_ns = Some(self.first_ns.map_or(new.0, |first| first.min(new.0)));
        self.last_ns = Some(self.last_ns.map_or(new.1, |last| last.max(new.1)));
        self.rows += 1;
        let thread = call.thread.0;
        self.held.push(Held { start_ns: new.0, number: self.rows, call });
        let next = source.new.next_row(index).map(|row| source.new.of_row(row).0);
        self.next_starts.retain_mut(|(of, next_ns)| {
            if *of == thread {
                *next_ns = next.unwrap_or(*next_ns);
            }
            *of != thread || next.is_some()
        });
    }

    /// Writes the rows that no thread can bring an earlier one than.
    fn write_ready(&mut self, part: &mut PartWriter) -> Result<(), TraceError> {
        let earliest_ns = self.next_starts.iter().map(|(_, next_ns)| *next_ns).min().unwrap_or(i64::MAX);
        while let Some(held) = self.held.peek()
            && held.start_ns <= earliest_ns
        {
            let Some(Held { call, .. }) = self.held.pop() else { break };
            part.rows.completes.values.extend(call.completes.iter().map(|request| *request as i64));
            part.rows.push(&Row::of_call(&call));
            if part.is_full() {
                part.flush()?;
            }
        }
        Ok(())
    }
}

/// The entries of one rank, of a list that is in the order of ranks.
fn of_rank<T>(list: &[T], rank: Rank, rank_of: impl Fn(&T) -> Rank) -> &[T] {
    let begin = list.partition_point(|entry| rank_of(entry) < rank);
    let end = list.partition_point(|entry| rank_of(entry) <= rank);
    &list[begin..end]
}
